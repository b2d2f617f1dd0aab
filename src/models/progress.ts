import type { StreamId } from '../../events/common.js'
import type { Progress } from './fit.js'

/** How far the training of a model's version is; undefined when it waits or is over. */
export type ProgressOf = (model: StreamId, version: number) => Progress | undefined

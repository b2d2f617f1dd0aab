import type { Progress } from '../engines/tables/fit.js'

/** How far the training of a version of a model (its stream) is; undefined when it waits or is over. */
export type ProgressOf = (model: string, version: number) => Progress | undefined

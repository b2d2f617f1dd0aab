import type { Progress } from '../engines/tables/fit.js'

/** The progress of training a model's version (the model is named by its stream); undefined when the training waits or is over. */
export type ProgressOf = (model: string, version: number) => Progress | undefined

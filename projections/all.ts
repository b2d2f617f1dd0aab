import { answers } from './answers.js'
import { contents } from './contents.js'
import { databaseQueries } from './database-queries.js'
import { erasures } from './erasures.js'
import { evaluations } from './evaluations.js'
import { events } from './events.js'
import { judgements } from './judgements.js'
import { outcomes, predictions } from './predictions.js'
import type { Projection } from './projection.js'
import { resourceProjections } from './resources.js'

/** What follows from records, which belong to no resource. */
const records: readonly Projection[] = [predictions, outcomes, answers, judgements, evaluations, databaseQueries, contents]

/** Every projection there is, in the order they are applied. */
export const projections: readonly Projection[] = [events, ...Object.values(resourceProjections).flat(), ...records, erasures]

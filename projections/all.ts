import { answers } from './records/answers.js'
import { contents } from './records/contents.js'
import { databaseQueries } from './records/database-queries.js'
import { erasures } from './erasures.js'
import { evaluations } from './records/evaluations.js'
import { events } from './events.js'
import { judgements } from './records/judgements.js'
import { knowledgeSearches } from './records/knowledge-searches.js'
import { outcomes, predictions } from './records/predictions.js'
import type { Projection } from './contract/projection.js'
import { resourceProjections } from './resources.js'

/** The projections of records, which belong to no resource. */
const records: readonly Projection[] = [
  predictions,
  outcomes,
  answers,
  judgements,
  evaluations,
  databaseQueries,
  contents,
  knowledgeSearches,
]

/** All projections, in the order in which they run. */
export const projections: readonly Projection[] = [events, ...Object.values(resourceProjections).flat(), ...records, erasures]

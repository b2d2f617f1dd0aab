import { isInProject, kinds, pluralOf } from '../../../events/catalogue.js'
import { foldName } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'

/** A table of each kind that lives in projects, and one of its history. */
const ofKinds = kinds.filter(isInProject).flatMap((kind) => [pluralOf(kind), `${pluralOf(kind)}_history`])

/** The tables of every project. A view or a model of such a name could not be read: the table comes first. */
export const projectTables: readonly string[] = [
  ...ofKinds,
  ...['models_versions', 'model_activations_history', 'job_definitions_history', 'triggers', 'knowledge_bases'],
]

/** @throws Problem when a new view or model may not have the name */
export const refuseTableName = (name: string): void => {
  if (projectTables.includes(foldName(name)))
    throw new Problem('already_exists', 'Name conflict', `${name} is the name of a table that every project has`, {
      hint: 'Choose another name.',
    })
}

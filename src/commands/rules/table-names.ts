import { isInProject, kinds, pluralOf } from '../../../events/catalogue/catalogue.js'
import { foldName } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'

/** For each kind that lives in projects, its table and the table of its history. */
const ofKinds = kinds.filter(isInProject).flatMap((kind) => [pluralOf(kind), `${pluralOf(kind)}_history`])

/** The tables of every project. A view or model with such a name could not be read, because the table takes precedence. */
export const projectTables: readonly string[] = [
  ...ofKinds,
  ...['models_versions', 'model_activations_history', 'job_definitions_history', 'triggers'],
]

/** @throws Problem when the name is not allowed for a new view or model */
export const refuseTableName = (name: string): void => {
  if (projectTables.includes(foldName(name)))
    throw new Problem('already_exists', 'Name conflict', `${name} is the name of a table that every project has`, {
      hint: 'Choose another name.',
    })
}

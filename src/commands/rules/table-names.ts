import { foldName } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'

/** The tables of every project. A view or a model of such a name could not be read: the table comes first. */
export const projectTables: readonly string[] = [
  ...['models', 'models_history', 'models_versions', 'model_activations_history'],
  ...['skills', 'skills_history', 'agents', 'agents_history', 'chatbots', 'chatbots_history', 'views', 'views_history'],
  ...['jobs', 'jobs_history', 'job_definitions_history', 'triggers', 'knowledge_bases'],
]

/** @throws Problem when a new view or model may not have the name */
export const refuseTableName = (name: string): void => {
  if (projectTables.includes(foldName(name)))
    throw new Problem('already_exists', 'Name conflict', `${name} is the name of a table that every project has`, {
      hint: 'Choose another name.',
    })
}

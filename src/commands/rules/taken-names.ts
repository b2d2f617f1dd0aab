import { isInProject, kinds, pluralOf } from '../../../events/catalogue/catalogue.js'
import { foldName } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import { byExactName, type FactsOf } from '../../log/contract/lookups.js'

/** For each kind that lives in projects, its table and the table of its history. */
const ofKinds = kinds.filter(isInProject).flatMap((kind) => [pluralOf(kind), `${pluralOf(kind)}_history`])

/** The tables of every project. A view or model with such a name could not be read, because the table takes precedence. */
export const projectTables: readonly string[] = [
  ...ofKinds,
  ...['models_versions', 'model_activations_history', 'job_definitions_history', 'triggers'],
]

/** @throws Problem when the name is not allowed for a new view or model */
const refuseTableName = (name: string): void => {
  if (projectTables.includes(foldName(name)))
    throw new Problem('already_exists', 'Name conflict', `${name} is the name of a table that every project has`, {
      hint: 'Choose another name.',
    })
}

/** The kinds that FROM can name in a project. */
type ReadableKind = 'view' | 'model' | 'agent' | 'knowledge_base'

/** The resources that already have a name, of all kinds that FROM can name. */
export const namesakes = (name: string, project: string) => ({
  asView: byExactName('view', name, project),
  asModel: byExactName('model', name, project),
  asAgent: byExactName('agent', name, project),
  asKnowledgeBase: byExactName('knowledge_base', name, project),
})

/** @returns whether FROM can name a kind in a project */
export const isReadable = (kind: string): kind is ReadableKind => Object.hasOwn(excluded, kind)

export type Namesakes = FactsOf<ReturnType<typeof namesakes>>

const words: Readonly<Record<ReadableKind, string>> = {
  view: 'a view',
  model: 'a model',
  agent: 'an agent',
  knowledge_base: 'a knowledge base',
}

/** For each kind, the other kinds with which it cannot share a name. A model and an agent may share one, as in MindsDB. */
const excluded: Readonly<Record<ReadableKind, readonly ReadableKind[]>> = {
  view: ['model', 'agent', 'knowledge_base'],
  model: ['view', 'knowledge_base'],
  agent: ['view', 'knowledge_base'],
  knowledge_base: ['view', 'model', 'agent'],
}

/**
 * Refuses a new name that already means something else in FROM: a resource of another kind, or a table that every project has. An agent may
 * have the name of such a table; FROM then reads the table.
 *
 * @example refuseTakenName('view', 'docs', facts) // Problem: docs is the name of a knowledge base in this project
 * @throws Problem already_exists
 */
export const refuseTakenName = (kind: ReadableKind, name: string, { asView, asModel, asAgent, asKnowledgeBase }: Namesakes): void => {
  if (kind !== 'agent') refuseTableName(name)
  const there = { view: asView, model: asModel, agent: asAgent, knowledge_base: asKnowledgeBase }
  const other = excluded[kind].find((one) => there[one] !== undefined)
  if (other !== undefined)
    throw new Problem('already_exists', 'Name conflict', `${name} is the name of ${words[other]} in this project`, {
      hint: 'Choose another name.',
    })
}

/** Room: copies from a running instance of MindsDB. It imports only events, basics, setup, catalogue, vault, dialect and files/formats. */

import { foldName } from '../../events/common.js'
import { engineNamed } from '../catalogue/engines.js'
import { cutSecrets } from '../dialect/mask-secrets.js'
import {
  agentCopy,
  chatbotCopy,
  connectionCopy,
  engineCopy,
  fileCopy,
  isBuiltIn,
  jobCopy,
  projectCopy,
  skillCopy,
  viewCopy,
} from './copies.js'
import { noContents, type UnsupportedResource, type Inventory } from './inventory.js'
import { databaseOf, modelStatement, type Databases } from './model-statement.js'
import { itemsOf, type Copy, type Item, type CreationMethod } from './items.js'
import type { ModelRow } from './records.js'

/** The things to copy: everything of the old service or some projects; and whether to train models. */
export type Choice = { isWanted: (project: string) => boolean; train: boolean }

const named = (name: string) => ({ name })

/** The databases that may hold a model's rows: files, its own project and the other projects. */
const databasesFor = (project: string, { files, contents }: Inventory): Databases => {
  const views = (of: string): [string, Set<string>] => [of, new Set(contents.get(of)?.views.map(({ name }) => foldName(name)))]
  const others = [...contents.keys()].filter((key) => key !== foldName(project))
  return new Map([['files', new Set(files.map(({ name }) => foldName(name)))], views(foldName(project)), ...others.map(views)])
}

/** The statement of a model, or the reason why it cannot be made. */
const statementOf = (model: ModelRow, old: Inventory): { statement: string } | { why: string } => {
  const database = databaseOf(model.select_data_query ?? '', databasesFor(model.project, old))
  const statement = modelStatement(model, database ?? '')
  if (statement === undefined) return { why: 'the old service does not tell enough of it to make its statement again' }
  if (database === undefined)
    return { why: `the old service does not tell which database its query is for; put it behind FROM: ${cutSecrets(statement)}` }
  return { statement }
}

const unknownEngine = (model: ModelRow, old: Inventory): string | undefined => {
  const name = model.engine ?? ''
  const handler = old.engines.find((engine) => foldName(engine.name) === foldName(name))?.handler ?? name
  return name === '' || engineNamed(handler) ? undefined : `there is no engine ${handler} here`
}

const modelCopy = (old: Inventory, train: boolean): Copy<ModelRow> => ({
  kind: 'model',
  settings: ({ predict, select_data_query }) => ({ predict: predict ?? null, query: select_data_query?.trim() ?? '' }),
  make: (model): CreationMethod | string => {
    const made = statementOf(model, old)
    const unknown = unknownEngine(model, old)
    if (unknown !== undefined) return 'why' in made ? unknown : `${unknown}: ${cutSecrets(made.statement)}`
    if ('why' in made) return made.why
    return train
      ? { by: 'training', project: model.project, statement: made.statement }
      : `--train trains it here: ${cutSecrets(made.statement)}`
  },
  notes: () => ['it is trained again: the import does not copy trained models'],
})

const modelsOf = (old: Inventory, here: Inventory, { isWanted, train }: Choice): Item[] => {
  const wanted = old.models.filter(({ project }) => isWanted(project))
  return wanted.flatMap((model) => {
    const namesakes = here.models.filter(({ project }) => foldName(project) === foldName(model.project))
    return itemsOf(modelCopy(old, train), model.project, [model], namesakes)
  })
}

/** The reason why something is not copied, and an alternative. */
const whyAbsent: Readonly<Record<UnsupportedResource['kind'], string>> = {
  'knowledge base':
    'the other service gives neither its documents nor the key of its model: CREATE KNOWLEDGE_BASE here, and INSERT them from where they came',
  trigger: 'there are no triggers here: a job that reads LAST does its work, or a program that follows the log',
}

const absentItem = ({ kind, project, name }: UnsupportedResource): Item => ({
  kind,
  project,
  name,
  notes: [whyAbsent[kind]],
  fate: { is: 'not copied' },
})

/**
 * Plans an import. Each item comes after the items that it needs. Pure: the same inventories give the same plan.
 *
 * @example planImport(old, here, [], { isWanted: () => true, train: false }).filter(({ fate }) => fate.is === 'create')
 */
export const planImport = (old: Inventory, here: Inventory, absent: readonly UnsupportedResource[], choice: Choice): Item[] => {
  const projects = old.projects.filter(choice.isWanted)
  const inProjects = <T extends { name: string }>(
    copyFor: (project: string) => Copy<T>,
    of: (contents: typeof noContents) => T[],
  ): Item[] =>
    projects.flatMap((project) => {
      const contentsIn = (one: Inventory) => of(one.contents.get(foldName(project)) ?? noContents)
      return itemsOf(copyFor(project), project, contentsIn(old), contentsIn(here))
    })
  return [
    ...itemsOf(projectCopy, null, projects.map(named), here.projects.map(named)),
    ...itemsOf(engineCopy, null, old.engines.filter((engine) => !isBuiltIn(engine)), here.engines), // prettier-ignore
    ...itemsOf(connectionCopy, null, old.connections, here.connections),
    ...itemsOf(fileCopy, null, old.files, here.files),
    ...inProjects(viewCopy, ({ views }) => views),
    ...inProjects(skillCopy, ({ skills }) => skills),
    ...inProjects(agentCopy, ({ agents }) => agents),
    ...inProjects(chatbotCopy, ({ chatbots }) => chatbots),
    ...modelsOf(old, here, choice),
    ...inProjects(jobCopy, ({ jobs }) => jobs),
    ...absent.filter(({ project }) => choice.isWanted(project)).map(absentItem),
  ]
}

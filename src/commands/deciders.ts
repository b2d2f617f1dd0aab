import type { Command } from '@event-driven-io/emmett'
import type { EventDefinition, Kind } from '../../events/catalogue/catalogue.js'
import { agentDecider } from './agent.js'
import { answersDecisions } from './records/answers.js'
import { chatbotDecider } from './chatbot.js'
import { configDecider } from './config.js'
import { conversationDecider } from './conversation.js'
import { contentsDecisions } from './records/contents.js'
import { databaseDecider } from './database.js'
import type { Decisions } from './rules/decider.js'
import { engineDecider } from './engine.js'
import { fileDecider } from './file.js'
import { jobDecider } from './job.js'
import { knowledgeBaseDecider } from './knowledge-base.js'
import { logDecisions } from './records/log.js'
import { modelDecider } from './model.js'
import { predictionsDecisions } from './records/predictions.js'
import { projectDecider } from './project.js'
import { queriesDecisions } from './records/queries.js'
import { searchesDecisions } from './records/searches.js'
import { skillDecider } from './skill.js'
import { viewDecider } from './view.js'

/** The deciders of all kinds. If a kind in the catalogue of events is missing here, the code does not compile. */
export const deciders = {
  project: projectDecider,
  skill: skillDecider,
  agent: agentDecider,
  chatbot: chatbotDecider,
  conversation: conversationDecider,
  model: modelDecider,
  view: viewDecider,
  database: databaseDecider,
  file: fileDecider,
  job: jobDecider,
  config: configDecider,
  engine: engineDecider,
  knowledge_base: knowledgeBaseDecider,
  predictions: predictionsDecisions,
  answers: answersDecisions,
  contents: contentsDecisions,
  queries: queriesDecisions,
  searches: searchesDecisions,
  log: logDecisions,
} satisfies { [K in EventDefinition['kind']]: K extends Kind ? { kind: K } : object }

type Deciders = typeof deciders
type CommandOf<D> = D extends { reads: (command: infer C extends Command) => unknown } ? C : never

/** All commands except rollbacks, which are derived from the deciders. */
export type DecidedCommand = CommandOf<Deciders[keyof Deciders]>

/** The kinds that have a rollback command; models activate an earlier version instead. */
export type RollbackKind = { [K in Kind]: Deciders[K]['rollback'] extends null ? never : K }[Kind]

/** Members of commands, at any depth, whose texts may be secrets. */
export const secretFields: ReadonlySet<string> = new Set(
  Object.values(deciders).flatMap(({ secrets }: Pick<Decisions<never, never>, 'secrets'>) => secrets),
)

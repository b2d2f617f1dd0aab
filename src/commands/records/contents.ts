import type { Command } from '@event-driven-io/emmett'
import { contentsStream, type ContentsEvent, type KnowledgeInserted, type KnowledgeRemoved } from '../../../events/records/contents.js'
import { notFound, Problem } from '../../basics/errors.js'
import type { NewEvent } from '../../log/contract/log.js'
import { byStream, type Resource, versionOf } from '../../log/contract/lookups.js'
import type { Decisions } from '../rules/decider.js'

/** `contents` is the version of the contents that the command expects, `name` the name of the knowledge base. */
type ContentsTarget = { name: string; contents: number }
export type ContentsCommand =
  | Command<'InsertKnowledge', ContentsTarget & { inserted: KnowledgeInserted }>
  | Command<'RemoveKnowledge', ContentsTarget & { removed: KnowledgeRemoved }>

const eventOf = ({ type, data }: ContentsCommand): ContentsEvent =>
  type === 'InsertKnowledge' ? { type: 'KnowledgeInserted', data: data.inserted } : { type: 'KnowledgeRemoved', data: data.removed }

const reads = (command: ContentsCommand) => {
  const { knowledge_base } = eventOf(command).data
  const version = versionOf(contentsStream(knowledge_base))
  return { base: byStream('knowledge_base', knowledge_base), version }
}
type Facts = { base: Resource<'knowledge_base'> | undefined; version: number }

const decide = (command: ContentsCommand, { base, version }: Facts): NewEvent[] => {
  const event = eventOf(command)
  const { name, contents } = command.data
  if (!base) throw notFound('knowledge base', name)
  // The documents to replace were looked up earlier, and the contents may have changed since.
  if (version !== contents)
    throw new Problem('busy', 'Changed meanwhile', `the contents of ${name} were changed at the same time`, { retryAfterSeconds: 1 })
  return [{ stream: contentsStream(event.data.knowledge_base), event }]
}

/** Decides the commands on the documents of knowledge bases, which are in a stream of their own and have no state. */
export const contentsDecisions: Decisions<ContentsCommand, Facts> = {
  commands: { InsertKnowledge: true, RemoveKnowledge: true },
  secrets: [],
  reads,
  decide,
}

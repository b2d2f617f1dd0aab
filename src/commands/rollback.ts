import type { Command } from '@event-driven-io/emmett'
import type { Agent } from '../../events/agent.js'
import type { Kind, LedgerEvent, States } from '../../events/catalogue.js'
import type { Chatbot } from '../../events/chatbot.js'
import { foldName } from '../../events/common.js'
import type { Database } from '../../events/database.js'
import type { File } from '../../events/file.js'
import type { Skill } from '../../events/skill.js'
import type { View } from '../../events/view.js'
import { conflict, notFound, Problem, wrong } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { byName, byStream, byExactName, earlier, type Earlier, type Found, type Lookup } from '../log/contract/lookups.js'
import { reservedDatabases } from './project.js'

/** The kinds that can be taken back to an earlier version by a command of their own; models activate a version instead. */
export type RollbackKind = 'skill' | 'agent' | 'chatbot' | 'view' | 'job' | 'database' | 'file'

type Target = { project?: string; name: string; version: number }
export type RollbackCommand =
  | Command<'RollBackSkill', Target>
  | Command<'RollBackAgent', Target>
  | Command<'RollBackChatbot', Target>
  | Command<'RollBackView', Target>
  | Command<'RollBackJob', Target>
  | Command<'RollBackDatabase', Target>
  | Command<'RollBackFile', Target>

/** What stands in the way of one kind's earlier state, and the events that lead there. */
type Way<K extends RollbackKind> = {
  /** What has to be there, or must not be, for the earlier state to stand again. */
  needs: (then: States[K], project: string | undefined) => Record<string, Lookup>
  /** @throws Problem when one of these is missing or in the way */
  check: (then: States[K], facts: Record<string, unknown>, now: States[K]) => void
  events: (now: States[K], then: States[K]) => LedgerEvent[]
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The members that are to become others, with their earlier values; undefined when there are none. */
const changed = <S extends object, N extends keyof S>(now: S, then: S, names: readonly N[]): Pick<S, N> | undefined => {
  const differing = names.filter((name) => !same(now[name], then[name])).map((name) => [name, then[name]] as const)
  return differing.length > 0 ? (Object.fromEntries(differing) as Pick<S, N>) : undefined
}

const renamed = <T extends string>(type: T, now: { name: string }, then: { name: string }) =>
  now.name === then.name ? [] : [{ type, data: { name: then.name } } as const]

const gone = (what: string): Problem =>
  new Problem('not_found', 'Resource not found', `${what} of that version does not exist any more`, {
    hint: 'Create it anew and set it, or choose another version.',
  })

const ways: { [K in RollbackKind]: Way<K> } = {
  skill: {
    needs: () => ({}),
    check: () => undefined,
    events: (now: Skill, then: Skill) => {
      const data = changed(now, then, ['type', 'params'])
      return [...(data ? [{ type: 'SkillUpdated' as const, data }] : []), ...renamed('SkillRenamed', now, then)]
    },
  },
  agent: {
    needs: ({ skills, provider, model_name }, project) => ({
      ...Object.fromEntries(skills.map(({ skill }) => [`skill ${skill}`, byStream('skill', skill)])),
      ...(provider === 'mindsdb' && model_name !== null && { model: byName('model', model_name, project) }),
    }),
    check: ({ skills, model_name }, facts) => {
      if (skills.some(({ skill }) => facts[`skill ${skill}`] === undefined)) throw gone('a skill')
      if ('model' in facts && facts['model'] === undefined) throw gone(`the model ${model_name ?? ''}`)
    },
    events: (now: Agent, then: Agent) => {
      const data = changed(now, then, ['model_name', 'provider', 'skills', 'params'])
      return [...(data ? [{ type: 'AgentUpdated' as const, data }] : []), ...renamed('AgentRenamed', now, then)]
    },
  },
  chatbot: {
    needs: ({ agent, database }) => ({
      ...(agent !== null && { agent: byStream('agent', agent) }),
      database: byStream('database', database),
    }),
    check: ({ agent }, facts) => {
      if (agent !== null && facts['agent'] === undefined) throw gone('the agent')
      if (facts['database'] === undefined) throw gone('the connection')
    },
    events: (now: Chatbot, then: Chatbot) => {
      const data = changed(now, then, ['agent', 'model_name', 'database', 'is_running', 'params'])
      return [...(data ? [{ type: 'ChatbotUpdated' as const, data }] : []), ...renamed('ChatbotRenamed', now, then)]
    },
  },
  view: {
    needs: () => ({}),
    check: () => undefined,
    events: (now: View, then: View) => {
      const data = changed(now, then, ['query', 'database'])
      return [...(data ? [{ type: 'ViewUpdated' as const, data }] : []), ...renamed('ViewRenamed', now, then)]
    },
  },
  // What a job does never changes: versions tell of its runs.
  job: { needs: () => ({}), check: () => undefined, events: () => [] },
  database: {
    needs: ({ name }) => ({ projectOfThisName: byExactName('project', name) }),
    check: ({ name }, facts, now) => {
      const isTaken = facts['projectOfThisName'] !== undefined || reservedDatabases.includes(foldName(name))
      if (name !== now.name && isTaken) throw conflict('database', name)
    },
    events: (now: Database, then: Database) => {
      const data = changed(now, then, ['engine', 'parameters'])
      return [...(data ? [{ type: 'DatabaseUpdated' as const, data }] : []), ...renamed('DatabaseRenamed', now, then)]
    },
  },
  file: {
    needs: () => ({}),
    check: () => undefined,
    events: (now: File, { name: _, ...content }: File) =>
      now.content === content.content ? [] : [{ type: 'FileReplaced', data: content }],
  },
}

type Facts<K extends RollbackKind> = {
  project?: Found<'project'> | undefined
  found: Found<K> | undefined
  then: Earlier<K> | undefined
  namesake?: Found<K> | undefined
} & Record<string, unknown>

const noSuchVersion = <K extends RollbackKind>(kind: K, { name, version }: Target, { version: newest }: Found<K>): Problem =>
  new Problem('not_found', 'Version not found', `${kind} ${name} has no version ${version}`, {
    hint: newest === 1 ? 'It never changed.' : `Its versions are 1 to ${newest}.`,
  })

const nothingToDo = (kind: Kind, { name, version }: Target): Problem =>
  wrong(
    `${kind} ${name} is what it was at version ${version}`,
    kind === 'job' ? 'What a job does never changes; drop it and create another one.' : 'Choose a version that it differs from.',
  )

const decideOn = <K extends RollbackKind>(kind: K, data: Target, facts: Facts<K>): LedgerEvent[] => {
  const { found, then, namesake } = facts
  if (data.project !== undefined && !facts.project) throw notFound('project', data.project)
  if (!found) throw notFound(kind, data.name)
  if (data.version === found.version) throw nothingToDo(kind, data)
  if (!then) throw noSuchVersion(kind, data, found)
  if (namesake && namesake.stream !== found.stream) throw conflict(kind, then.state.name)
  const way: Way<K> = ways[kind]
  way.check(then.state, facts, found.state)
  if (then.erased.length > 0)
    throw new Problem('not_found', 'Secrets erased', `the secrets that ${kind} ${data.name} had at version ${data.version} were erased`, {
      hint: 'Change it instead, with new secrets.',
    })
  const events = way.events(found.state, then.state)
  if (events.length === 0) throw nothingToDo(kind, data)
  return events
}

/**
 * The decision to take a resource back to what it was at an earlier version of its own, as an ordinary change: its history goes on.
 *
 * @example rollbackOf('skill').reads({ type: 'RollBackSkill', data: { project: 'shop', name: 'rents', version: 2 } })
 */
export const rollbackOf = <K extends RollbackKind>(kind: K) => ({
  reads: ({ data: { project, name, version } }: RollbackCommand): Record<string, Lookup> => {
    // It is folded in the transaction, and others wait meanwhile.
    if (version > limits.rollbackMaxVersion)
      throw wrong(`version ${version} cannot be gone back to; that can be done up to version ${limits.rollbackMaxVersion}`)
    return {
      ...(project !== undefined && { project: byName('project', project) }),
      [kind]: kind === 'file' ? byExactName(kind, name) : byName(kind, name, project),
      then: earlier(kind, name, version, project),
    }
  },
  readsFurther: (facts: { project?: Found<'project'>; then?: Earlier<K> }): Record<string, Lookup> => {
    if (!facts.then) return {}
    const { state } = facts.then
    const project = facts.project?.state.name
    const way: Way<K> = ways[kind]
    return { namesake: byExactName(kind, state.name, project), ...way.needs(state, project) }
  },
  decide: ({ data }: RollbackCommand, facts: Record<string, unknown>): LedgerEvent[] =>
    decideOn(kind, data, { ...facts, found: facts[kind] } as Facts<K>),
})

import type { Command } from '@event-driven-io/emmett'
import { unreachable, type StreamId } from '../../../events/common.js'
import { logStream, type DataErased, type LogEvent, type MasterKeyRotated } from '../../../events/records/log.js'
import { secretsOf } from '../../../events/secrets.js'
import { Problem } from '../../basics/errors.js'
import type { Kind, NewEvent, Resource } from '../../log/contract/log.js'
import { byStream, type Lookup } from '../../log/contract/lookups.js'
import type { Decisions } from '../rules/decider.js'

/** A resource that had secrets, and does not have them now. */
export type FormerHolder = { kind: Kind; stream: StreamId }

export type LogCommand =
  /**
   * `payloads` and `blobs` are the hashes of what is erased; replacements are already sealed. Without any, it erases kept answers with rows,
   * as every erasure does except one of secrets. It is refused if one of the former holders of these secrets has one again.
   */
  | Command<'EraseData', DataErased & { formerHolders?: FormerHolder[] }>
  /** Ends a rotation, in which the keys of the payloads were wrapped under the key `to`. */
  | Command<'EndKeyRotation', MasterKeyRotated>

const eventOf = (command: LogCommand): LogEvent => {
  switch (command.type) {
    case 'EraseData': {
      const { formerHolders: _, ...data } = command.data
      return { type: 'DataErased', data }
    }
    case 'EndKeyRotation':
      return { type: 'MasterKeyRotated', data: command.data }
    default:
      return unreachable(command)
  }
}

/** The former holders, by their streams; undefined for a deleted one. */
type Facts = Record<string, Resource | undefined>

/** Whether one of these resources has one of these secrets, for example again after a rollback. */
export const haveSecrets = (resources: readonly (Resource | undefined)[], secrets: readonly { hash: string }[]): boolean => {
  const inUse = new Set(resources.flatMap((resource) => (resource ? secretsOf(resource.state) : [])))
  return secrets.some(({ hash }) => inUse.has(hash))
}

const decide = (command: LogCommand, facts: Facts): NewEvent[] => {
  if (command.type === 'EraseData' && haveSecrets(Object.values(facts), command.data.payloads))
    throw new Problem('busy', 'Secret in use again', 'a resource got one of these secrets again while they were being erased', {
      hint: 'Send the request again.',
      retryAfterSeconds: 1,
    })
  return [{ stream: logStream, event: eventOf(command) }]
}

/** Decides the commands of the log itself, whose stream has no state. Erasures are planned before, in src/erasure. */
export const logDecisions: Decisions<LogCommand, Facts> = {
  commands: { EraseData: true, EndKeyRotation: true },
  secrets: [],
  reads: ({ type, data }) => {
    const holders = type === 'EraseData' ? (data.formerHolders ?? []) : []
    return Object.fromEntries(holders.map(({ kind, stream }): [string, Lookup] => [stream, byStream(kind, stream)]))
  },
  decide,
}

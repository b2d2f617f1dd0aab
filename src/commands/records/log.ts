import type { Command } from '@event-driven-io/emmett'
import { unreachable } from '../../../events/common.js'
import { logStream, type DataErased, type LogEvent, type MasterKeyRotated } from '../../../events/records/log.js'
import type { NewEvent } from '../../log/contract/log.js'
import type { Decisions } from '../rules/decider.js'

export type LogCommand =
  /** `payloads` and `blobs` are the hashes of what is erased; replacements are already sealed. */
  | Command<'EraseData', DataErased>
  /** Ends a rotation, in which the keys of the payloads were wrapped under the key `to`. */
  | Command<'EndKeyRotation', MasterKeyRotated>

const eventOf = (command: LogCommand): LogEvent | undefined => {
  switch (command.type) {
    case 'EraseData': {
      const { payloads, blobs } = command.data
      return payloads.length + blobs.length === 0 ? undefined : { type: 'DataErased', data: command.data }
    }
    case 'EndKeyRotation':
      return { type: 'MasterKeyRotated', data: command.data }
    default:
      return unreachable(command)
  }
}

const decide = (command: LogCommand): NewEvent[] => {
  const event = eventOf(command)
  return event ? [{ stream: logStream, event }] : []
}

/** Decides the commands of the log itself, whose stream has no state. Erasures are planned before, in src/erasure. */
export const logDecisions: Decisions<LogCommand, object> = {
  commands: { EraseData: true, EndKeyRotation: true },
  secrets: [],
  reads: () => ({}),
  decide,
}

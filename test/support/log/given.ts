import { deepStrictEqual, fail } from 'node:assert'
import { handlers, type LedgerCommand } from '../../../src/commands/dispatch.js'
import { isProblem, type Problem, type ProblemCode } from '../../../src/basics/errors.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import type { Lookup } from '../../../src/log/contract/lookups.js'
import { ResourceTable } from '../../../src/log/storage/resource-table.js'
import { openForWriting } from '../../../src/log/storage/schema.js'

type Decision = { then: (...events: NewEvent['event'][]) => void; refuses: (code: ProblemCode, detail?: string) => Problem }

const outcomeOf = (past: readonly NewEvent[], command: LedgerCommand): NewEvent['event'][] => {
  const db = openForWriting(':memory:', () => 'given')
  try {
    const table = new ResourceTable(db)
    past.forEach(({ stream, event }, i) => table.apply(stream, i + 1, i + 1, '2026-01-01T00:00:00.000000Z', event))
    const { reads, readsFurther, decide } = handlers[command.type]
    const found = (lookups: Record<string, Lookup>) =>
      Object.fromEntries(Object.entries(lookups).map(([name, lookup]) => [name, table.lookUp(lookup)]))
    const facts = found(reads(command))
    return decide(command, { ...facts, ...found(readsFurther?.(facts, command) ?? {}) }).map((decided) =>
      'event' in decided ? decided.event : decided,
    )
  } finally {
    db.close()
  }
}

/**
 * A decision after a history. The command's lookups use the real table. The n-th event of the history has position n.
 *
 * @example given(shop).when({ type: 'DeleteProject', data }).then({ type: 'ProjectDeleted', data: {} })
 */
export const given = (...past: NewEvent[]) => ({
  when: (command: LedgerCommand): Decision => ({
    then: (...events) => deepStrictEqual(outcomeOf(past, command), events),
    refuses: (code, detail) => {
      let decided: NewEvent['event'][]
      try {
        decided = outcomeOf(past, command)
      } catch (error) {
        if (!isProblem(error)) throw error
        deepStrictEqual(error.code, code)
        if (detail !== undefined && !error.detail.includes(detail)) fail(`"${error.detail}" does not say "${detail}"`)
        return error
      }
      fail(`was not refused: ${JSON.stringify(decided)}`)
    },
  }),
})

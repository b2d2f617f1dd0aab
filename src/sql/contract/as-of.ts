import * as z from 'zod'
import { kinds } from '../../../events/catalogue/catalogue.js'
import { streamId } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import type { ResourceEntry, ResourcesAt } from '../../log/read/time-travel.js'
import { effectOf } from '../statements/grammar.js'
import type { Parameters, Statement } from '../statements/statement.js'

/** A log position, or a time (without a zone: UTC), at which the whole statement reads. */
export type AsOf = number | string

/** Names the valid positions. */
export const positionsUpTo = (head: number): string => `The log has the positions 1 to ${head}.`

/** The refusal of a position that the log does not have: `head` is the last position that this node knows. */
export const beyondHead = (label: string, head: number): Problem =>
  new Problem('bad_statement', 'No such position', `${label} is beyond the head of the log`, { hint: positionsUpTo(head), head })

/** Whether a statement was refused because of a position that another node may have written meanwhile. */
export const isBeyondHead = ({ code, extras }: Problem): boolean => code === 'bad_statement' && extras['head'] !== undefined

/** Refuses a writing statement: it would write at the head, whatever `as_of` is. */
export const refuseWriteAsOf = (statement: Statement, asOf: AsOf): void => {
  if (effectOf(statement) !== 'writes') return
  throw new Problem('refused_statement', 'The past cannot be changed', `as_of ${asOf} is for statements that read; this one writes`, {
    hint: 'Send it without "as_of" in the context.',
  })
}

/** Runs a SELECT of this service at the statement's position, and returns its rows. */
export type SelectRunner = (sql: string, params?: Parameters) => Promise<unknown[][]>

/** The position that the statement's `as_of` names. @throws Problem when it does not exist */
export const positionAsOf = async (ask: SelectRunner): Promise<number> =>
  Number((await ask('SELECT max(position) FROM log.events'))[0]?.[0])

const listedSchema = z.array(
  z
    .tuple([z.string(), z.enum(kinds), z.string().nullable(), z.string(), z.int()])
    .transform(([stream, kind, project, name, id]): ResourceEntry => ({
      stream: streamId.parse(stream),
      kind,
      project: project ?? '',
      name,
      id,
    })),
)

/** Lists resources by a SELECT of this service, at the position where `ask` reads. */
export const listResources =
  (ask: SelectRunner): ResourcesAt =>
  async ({ kind, project, page }) => {
    const conditions = [
      ...(kind === undefined ? [] : ['kind = :kind']),
      ...(project === undefined ? [] : ['project_id = :project']),
      ...(page === undefined ? [] : ['id > :after']),
    ]
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
    const first = page === undefined ? '' : `LIMIT ${page.limit}`
    const rows = await ask(`SELECT stream, kind, project_id, name, id FROM log.resources ${where} ORDER BY id ${first}`, {
      ...(kind !== undefined && { kind }),
      ...(project !== undefined && { project }),
      ...(page !== undefined && { after: page.after }),
    })
    return listedSchema.parse(rows)
  }

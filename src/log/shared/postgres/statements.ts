import { UnreachableError, type SharedLogSession } from './shared-log-session.js'
import { reappendedNote } from '../../storage/schema.js'
import { fetchRewritten, firstBeyond, rewrittenAfter } from './rewritten.js'
import { fullPart, sizeOfRows, isSamePlace, type Delta, type NewPlace, type PartBounds, type Place, type Rows } from './rows.js'
import { channel, refuseMoved } from './tables.js'

/** The note of the newest answer that was forgotten. All older answers were forgotten, too. */
export const forgottenNote = 'answers_forgotten'

/**
 * The newest batch and event, the chain up to it, the time of PostgreSQL in milliseconds since 1970, and whether its commits wait for a
 * standby.
 */
export type SharedHead = Place & { now: number; hasStandby: boolean }

const nowMs = `(extract(epoch FROM clock_timestamp()) * 1000)::float8`

/**
 * The place of the newest event of the shared log, and what is known of its server.
 *
 * @throws Error when the database holds no log, or one that was moved (see isMoved), and what the session throws when it is lost
 */
export const lookAt = async (session: SharedLogSession): Promise<SharedHead> => {
  const select = `
    SELECT head.seq, head.position::float8 AS position, head.chain, batch, format, ${nowMs} AS now,
      current_setting('synchronous_standby_names') <> '' AS "hasStandby"
    FROM mindledger.head LEFT JOIN mindledger.batches USING (seq)`
  const { rows } = await session.query<Omit<SharedHead, 'seq'> & { seq: string; format: number }>(select, [], 'look')
  const [row] = rows
  if (!row) throw new Error('the shared log has no head')
  const { format, ...head } = row
  refuseMoved(format)
  return { ...head, seq: Number(head.seq), batch: head.batch ?? undefined }
}

/**
 * One statement. It has no effect unless it moves the head from the place where this node is. The id of the batch there is looked up in
 * `batches`, which nodes of every release fill.
 */
const append = `
  WITH head AS (
    UPDATE mindledger.head SET seq = seq + 1, position = $3, chain = $4
    WHERE seq = $1 AND chain = $2 AND ($22::uuid IS NULL OR $22 = (SELECT b.batch FROM mindledger.batches AS b WHERE b.seq = $1))
    RETURNING seq
  ), batch AS (
    INSERT INTO mindledger.batches (seq, batch, position, chain, bytes) SELECT seq, $5, $3, $4, $6 FROM head
  ), events AS (
    INSERT INTO mindledger.events (position, text, chain)
    SELECT e.position, e.text, e.chain FROM head, unnest($7::bigint[], $8::text[], $9::bytea[]) AS e (position, text, chain)
  ), payloads AS (
    INSERT INTO mindledger.payloads (seq, hash, key_id, wrapped, body, replaced_by)
    SELECT head.seq, p.* FROM head, unnest($10::text[], $11::text[], $12::bytea[], $13::bytea[], $14::text[]) AS p
    ON CONFLICT (hash) DO UPDATE SET
      seq = excluded.seq, key_id = excluded.key_id, wrapped = excluded.wrapped, body = excluded.body, replaced_by = excluded.replaced_by
  ), answers AS (
    INSERT INTO mindledger.answers (seq, actor, key, fingerprint, answer, answered_at)
    SELECT head.seq, a.* FROM head, unnest($15::text[], $16::text[], $17::text[], $18::text[], $19::text[]) AS a
    ON CONFLICT (actor, key) DO UPDATE SET
      seq = excluded.seq, fingerprint = excluded.fingerprint, answer = excluded.answer, answered_at = excluded.answered_at
  ), notes AS (
    INSERT INTO mindledger.notes (seq, key, value) SELECT head.seq, n.* FROM head, unnest($20::text[], $21::text[]) AS n
    ON CONFLICT (key) DO UPDATE SET seq = excluded.seq, value = excluded.value
  ), forgotten AS (
    DELETE FROM mindledger.answers AS old USING head, unnest($23::text[], $24::text[]) AS f (actor, key)
    WHERE old.actor = f.actor AND old.key = f.key
  )
  SELECT seq, ${nowMs} AS now, pg_notify('${channel}', seq::text) FROM head`

/** A batch on its way: the places before and after it. If its answer is lost, its id shows whether the log has it. */
export type SentBatch = { from: Place; to: NewPlace; rows: Rows }

/**
 * Appends a batch. Returns PostgreSQL's time, or undefined when another node was quicker.
 * @throws UnreachableError when that is not known
 */
export const appendBatch = async (session: SharedLogSession, { from, to, rows }: SentBatch): Promise<number | undefined> => {
  const { events, payloads, answers, notes, forgotten = [] } = rows
  const values = [
    ...[from.seq, from.chain, to.position, to.chain, to.batch, sizeOfRows(rows)],
    ...[events.map(({ position }) => position), events.map(({ text }) => text), events.map(({ chain }) => chain)],
    ...[payloads.map(({ hash }) => hash), payloads.map(({ keyId }) => keyId), payloads.map(({ wrapped }) => wrapped)],
    ...[payloads.map(({ body }) => body), payloads.map(({ replacedBy }) => replacedBy)],
    ...[answers.map(({ actor }) => actor), answers.map(({ key }) => key), answers.map(({ fingerprint }) => fingerprint)],
    ...[answers.map(({ answer }) => answer), answers.map(({ answeredAt }) => answeredAt)],
    ...[notes.map(({ key }) => key), notes.map(({ value }) => value), from.batch ?? null],
    ...[forgotten.map(({ actor }) => actor), forgotten.map(({ key }) => key)],
  ]
  const answer = await session.query<{ seq: string; now: number }>(append, values, 'append')
  session.checkReplicated()
  return answer.rows[0]?.now
}

/** Takes the head for one batch: others wait until it is committed, or until PostgreSQL finds this node silent. */
export const lockHead = async (session: SharedLogSession): Promise<void> => {
  await session.query('BEGIN; SELECT FROM mindledger.head FOR UPDATE')
}

/** @throws UnreachableError when it is not known whether it was committed */
export const commitLocked = async (session: SharedLogSession): Promise<void> => {
  const { command } = await session.query('COMMIT')
  // PostgreSQL answers the COMMIT of a transaction that failed with ROLLBACK.
  if (command !== 'COMMIT') throw new UnreachableError('PostgreSQL rolled a batch back')
  session.checkReplicated()
}

/**
 * Waits until the standby has everything that was committed before. A commit waits for it when it wrote something, and this one writes a
 * message that nobody reads.
 */
export const waitForStandby = async (session: SharedLogSession): Promise<void> => {
  await session.query(`SELECT pg_logical_emit_message(true, 'mindledger', '')`)
  session.checkReplicated()
}

/**
 * Whether a batch whose answer was lost was appended. If not, it never will be: the head has moved on, or an empty batch moves it on, so
 * that a statement that is still on its way finds another place. The COMMIT waits until the standby has the batch, too.
 */
export const wasAppended = async (session: SharedLogSession, { from, to }: SentBatch): Promise<boolean> => {
  await lockHead(session)
  const { rows } = await session.query<{ batch: string }>('SELECT batch FROM mindledger.batches WHERE seq = $1', [from.seq + 1])
  if (rows.length === 0)
    await session.query(
      `WITH head AS (UPDATE mindledger.head SET seq = seq + 1 WHERE seq = $1 RETURNING seq, position, chain)
       INSERT INTO mindledger.batches SELECT seq, gen_random_uuid(), position, chain, 0 FROM head`,
      [from.seq],
    )
  await commitLocked(session)
  return rows[0]?.batch === to.batch
}

/** A bounded part of the rows after a batch: whole batches, and other rows that no later batch wrote again. */
const delta = `
  WITH next AS MATERIALIZED (
    SELECT seq, batch, position, chain, CASE WHEN seq = $1 THEN 0 ELSE bytes END AS bytes
    FROM mindledger.batches WHERE seq >= $1 ORDER BY seq LIMIT $3
  ), summed AS MATERIALIZED (
    SELECT seq, batch, position, chain, sum(bytes) OVER (ORDER BY seq) AS total FROM next
  ), chosen AS MATERIALIZED (
    SELECT seq, batch, position, chain FROM summed WHERE (total <= $4 AND position - $2 <= $5) OR seq <= $1 + 1
  ), last AS MATERIALIZED (
    SELECT seq, batch, position, chain FROM chosen ORDER BY seq DESC LIMIT 1
  )
  SELECT 'head' AS what, seq AS n, log_id AS a, NULL AS b, NULL AS c, NULL AS d, NULL AS e, NULL::bytea AS x, NULL::bytea AS y
  FROM mindledger.head
  UNION ALL SELECT 'here', position, batch::text, NULL, NULL, NULL, NULL, chain, NULL FROM chosen WHERE seq = $1
  UNION ALL SELECT 'last', seq, position::text, batch::text, NULL, NULL, NULL, chain, NULL FROM last
  UNION ALL SELECT 'event', events.position, events.text, NULL, NULL, NULL, NULL, events.chain, NULL
    FROM last, mindledger.events WHERE events.position > $2 AND events.position <= last.position
  UNION ALL SELECT 'payload', payloads.seq, hash, key_id, replaced_by, NULL, NULL, wrapped, body
    FROM last, mindledger.payloads WHERE payloads.seq > $1 AND payloads.seq <= last.seq
  UNION ALL SELECT 'answer', answers.seq, actor, key, fingerprint, answer, answered_at, NULL, NULL
    FROM last, mindledger.answers WHERE answers.seq > $1 AND answers.seq <= last.seq
  UNION ALL SELECT 'note', notes.seq, key, value, NULL, NULL, NULL, NULL, NULL
    FROM last, mindledger.notes WHERE notes.seq > $1 AND notes.seq <= last.seq`

type Row = { what: string; n: string } & Record<'a' | 'b' | 'c' | 'd' | 'e', string | null> & Record<'x' | 'y', Buffer | null>

const empty = Buffer.alloc(0)

const rowsOf = (rows: readonly Row[]): Rows => {
  const all = (what: string) => rows.filter((row) => row.what === what)
  return {
    events: all('event')
      .map(({ n, a, x }) => ({ position: Number(n), text: a ?? '', chain: x ?? empty }))
      .sort((one, other) => one.position - other.position),
    payloads: all('payload').map(({ a, b, c, x, y }) => ({ hash: a ?? '', keyId: b ?? '', replacedBy: c, wrapped: x, body: y ?? empty })),
    answers: all('answer').map(({ a, b, c, d, e }) => ({
      actor: a ?? '',
      key: b ?? '',
      fingerprint: c ?? '',
      answer: d ?? '',
      answeredAt: e ?? '',
    })),
    notes: all('note').map(({ a, b }) => ({ key: a ?? '', value: b })),
  }
}

/** A bounded part of the rows after a batch, with the events after a position, and the last event of this batch. */
type Part = Delta & { from: Place }

/**
 * Read in one snapshot, except payloads that were written again: these may be newer, and with too many bytes of them the part has fewer
 * batches. Undefined when the shared log lacks this batch.
 */
export const partAfter = async (
  session: SharedLogSession,
  { seq, position }: Pick<Place, 'seq' | 'position'>,
  bounds: PartBounds = fullPart,
): Promise<Part | undefined> => {
  const { batches, bytes, events } = bounds
  const { rows } = await session.query<Row>(delta, [seq, position, batches + 1, bytes, events], 'delta')
  const one = (what: string) => rows.find((row) => row.what === what)
  const [here, last] = [one('here'), one('last')]
  if (!here?.x || !last?.x) return undefined
  const from = { seq, position: Number(here.n), chain: here.x, batch: here.a ?? undefined }
  const to = { seq: Number(last.n), position: Number(last.a), chain: last.x, batch: last.b ?? undefined }
  const newest = Number(one('head')?.n)
  const part = rowsOf(rows)
  if (to.seq < newest) {
    const rewritten = await rewrittenAfter(session, to.seq, part)
    const beyond = firstBeyond(part.events, rewritten, bytes)
    if (beyond !== undefined && to.seq > seq + 1) {
      const fewer = Math.max(1, (await batchBefore(session, beyond, to.seq)) - seq)
      return partAfter(session, { seq, position }, { ...bounds, batches: fewer })
    }
    part.payloads.push(...(await fetchRewritten(session, to.seq, rewritten, bounds)))
  }
  return { from, to, rows: part, newest }
}

/**
 * The rows after a place, in one snapshot and bounded; undefined when the shared log does not have this place: it lost batches, or it is
 * another one.
 */
export const deltaAfter = async (session: SharedLogSession, place: Place, bounds?: PartBounds): Promise<Delta | undefined> => {
  const part = await partAfter(session, place, bounds)
  return part && isSamePlace(part.from, place) ? part : undefined
}

/** The batch after which lost batches were appended again, under other numbers; undefined when that never happened. */
export const reappendedAfter = async (session: SharedLogSession): Promise<number | undefined> => {
  const { rows } = await session.query<{ value: string }>('SELECT value FROM mindledger.notes WHERE key = $1', [reappendedNote])
  return rows[0] && Number(rows[0].value)
}

/** Positions rise with the numbers of batches, so this halves the numbers: no index has the positions. */
const lastBefore = `
  WITH RECURSIVE halves (low, high) AS (
    SELECT 0::bigint, least(coalesce(max(seq), 0), $2::bigint) FROM mindledger.batches
    UNION ALL
    SELECT CASE WHEN "isBefore" THEN middle ELSE low END, CASE WHEN "isBefore" THEN high ELSE middle - 1 END
    FROM (
      SELECT low, high, middle, coalesce(
        (SELECT position FROM mindledger.batches WHERE seq <= middle ORDER BY seq DESC LIMIT 1) < $1, true
      ) AS "isBefore"
      FROM (SELECT low, high, (low + high + 1) / 2 AS middle FROM halves WHERE low < high) AS halved
    ) AS looked
  )
  SELECT seq FROM mindledger.batches WHERE seq <= (SELECT low FROM halves WHERE low = high) ORDER BY seq DESC LIMIT 1`

/** The last batch that ended before a position; with `until`, of the batches up to that one. */
export const batchBefore = async (session: SharedLogSession, position: number, until = Number.MAX_SAFE_INTEGER): Promise<number> => {
  const { rows } = await session.query<{ seq: string }>(lastBefore, [position, until])
  return Number(rows[0]?.seq ?? 0)
}

/** The chain up to a position of the shared log; undefined when it has no such event. */
export const chainAt = async (session: SharedLogSession, position: number): Promise<Buffer | undefined> => {
  const { rows } = await session.query<{ chain: Buffer }>('SELECT chain FROM mindledger.events WHERE position = $1', [position])
  return rows[0]?.chain
}

/** How many events lie outside of the log: before its first position, or after its last. Nodes read none of them. */
export const strayEvents = async (session: SharedLogSession): Promise<number> => {
  const { rows } = await session.query<{ n: number }>(
    `SELECT ((SELECT count(*) FROM mindledger.events WHERE position < 1)
      + (SELECT count(*) FROM mindledger.events WHERE position > (SELECT position FROM mindledger.head)))::float8 AS n`,
  )
  return rows[0]?.n ?? 0
}

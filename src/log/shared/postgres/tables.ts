import { isRefusal, type SharedLogSession } from './shared-log-session.js'
import { genesis } from '../../../../events/stored/chain.js'
import { ConfigError } from '../../../setup/config.js'

/** The version of the tables in PostgreSQL. A node whose release has another version does not start. */
const format = 1

/** No release opens a log of this format: it goes on in a data directory. */
const moved = -1

/** The SQLSTATE with which PostgreSQL refuses a batch after that. */
const movedCode = 'ML001'

/** The log goes on in a data directory. */
class MovedError extends Error {}

/** @throws MovedError when the log of this format goes on in a data directory */
export const refuseMoved = (found: number): void => {
  if (found === moved) throw new MovedError('the shared log was moved')
}

/** Whether a look at the log, or a batch, was refused because the log goes on in a data directory. */
export const isMoved = (error: unknown): boolean => error instanceof MovedError || (isRefusal(error) && error.code === movedCode)

/** The NOTIFY channel for the numbers of new batches. */
export const channel = 'mindledger_log'

/** The NOTIFY channel for messages between nodes, which are not stored. */
export const talkChannel = 'mindledger_talk'

/**
 * The tables of the shared log. `head` has one row. Each batch updates it, which puts the batches in order. Events never change; every
 * other row has the number of the batch that wrote it last, so that a node that follows fetches the rows after its own last batch.
 */
const tables = `
  CREATE SCHEMA IF NOT EXISTS mindledger;
  CREATE TABLE mindledger.head (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    format   integer NOT NULL,
    log_id   text NOT NULL,
    seq      bigint NOT NULL,
    position bigint NOT NULL,
    chain    bytea NOT NULL
  ) WITH (fillfactor = 10);
  CREATE TABLE mindledger.batches (
    seq      bigint PRIMARY KEY,
    batch    uuid NOT NULL,
    position bigint NOT NULL,
    chain    bytea NOT NULL,
    bytes    bigint NOT NULL
  );
  CREATE TABLE mindledger.events (
    position bigint PRIMARY KEY,
    text     text NOT NULL,
    chain    bytea NOT NULL
  );
  CREATE TABLE mindledger.payloads (
    hash        text PRIMARY KEY,
    seq         bigint NOT NULL,
    key_id      text NOT NULL,
    wrapped     bytea,
    body        bytea NOT NULL,
    replaced_by text
  );
  ALTER TABLE mindledger.payloads ALTER COLUMN body SET STORAGE EXTERNAL;
  CREATE INDEX payloads_by_seq ON mindledger.payloads (seq);
  CREATE TABLE mindledger.answers (
    actor       text NOT NULL,
    key         text NOT NULL,
    seq         bigint NOT NULL,
    fingerprint text NOT NULL,
    answer      text NOT NULL,
    answered_at text NOT NULL,
    PRIMARY KEY (actor, key)
  );
  CREATE INDEX answers_by_seq ON mindledger.answers (seq);
  CREATE TABLE mindledger.notes (key text PRIMARY KEY, seq bigint NOT NULL, value text);
  CREATE SEQUENCE mindledger.lease_epochs;
  CREATE TABLE mindledger.leases (
    name   text PRIMARY KEY,
    node   text NOT NULL,
    epoch  bigint NOT NULL UNIQUE,
    losses integer NOT NULL,
    until  timestamptz NOT NULL
  );
  CREATE TABLE mindledger.key_holders (run text NOT NULL, key_id text NOT NULL, PRIMARY KEY (run, key_id));
  CREATE TABLE mindledger.wipes (node text PRIMARY KEY, position bigint NOT NULL);
  CREATE FUNCTION mindledger.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'events are never changed or deleted'; END $$;
  CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON mindledger.events
    FOR EACH STATEMENT EXECUTE FUNCTION mindledger.refuse();
  CREATE TABLE mindledger.nodes (
    id         text PRIMARY KEY,
    run        text NOT NULL,
    version    text NOT NULL,
    address    text,
    started_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    stopped    boolean NOT NULL,
    seq        bigint NOT NULL,
    position   bigint NOT NULL,
    unwritable text
  ) WITH (fillfactor = 10);
`

/**
 * Tables and columns that an earlier release did not create. The existence of the column is checked first, because ALTER TABLE locks the
 * whole table.
 */
const laterTables = `
  CREATE TABLE IF NOT EXISTS mindledger.logins (login text PRIMARY KEY, actor text NOT NULL, until timestamptz NOT NULL);
  DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = 'mindledger.nodes'::regclass AND attname = 'unwritable') THEN
      ALTER TABLE mindledger.nodes ADD COLUMN unwritable text;
    END IF;
  END $$`

/** Any number of nodes may start at once: one creates the tables. */
const creationLock = `SELECT pg_advisory_xact_lock(hashtextextended('mindledger.head', 0))`

/** Reads the rows of the catalogue. A lookup by name would use a cache, which may not know tables that were just created. */
export const areThere = async (session: SharedLogSession): Promise<boolean> => {
  const { rows } = await session.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'mindledger' AND tablename = 'head') AS found`,
  )
  return rows[0]?.found === true
}

const create = async (session: SharedLogSession, logId: string): Promise<void> => {
  const encoding = await session.query<{ server_encoding: string }>('SHOW server_encoding')
  if (encoding.rows[0]?.server_encoding !== 'UTF8')
    throw new ConfigError(`the shared log needs a database with the encoding UTF8, not ${encoding.rows[0]?.server_encoding ?? 'none'}`)
  await session.query(`BEGIN; ${creationLock}`)
  try {
    if (!(await areThere(session))) {
      const chain = genesis(logId)
      await session.query(tables)
      await session.query('INSERT INTO mindledger.head (format, log_id, seq, position, chain) VALUES ($1, $2, 0, 0, $3)', [
        format,
        logId,
        chain,
      ])
      await session.query('INSERT INTO mindledger.batches VALUES (0, gen_random_uuid(), 0, $1, 0)', [chain])
    }
    await session.query('COMMIT')
  } catch (error) {
    session.destroy()
    throw error
  }
}

/**
 * The id of the shared log; creates it, with the given id, if there is none.
 * @throws ConfigError when it has another format
 */
export const openTables = async (session: SharedLogSession, freshLogId: () => string): Promise<string> => {
  if (!(await areThere(session))) await create(session, freshLogId())
  const logId = await readLogId(session)
  await session.query(`BEGIN; ${creationLock}; ${laterTables}; COMMIT`)
  return logId
}

/** The id of the shared log. @throws ConfigError when there is none, or it has another format */
export const readLogId = async (session: SharedLogSession): Promise<string> => {
  if (!(await areThere(session))) throw new ConfigError('LOG_URL: this database has no log')
  const { rows } = await session.query<{ log_id: string; format: number }>('SELECT log_id, format FROM mindledger.head')
  const [head] = rows
  if (head?.format === moved)
    throw new ConfigError(
      `this log was moved to a data directory with "mindledger migrate --from", and goes on there. To go on here instead, and never with that directory, run in this database: UPDATE mindledger.head SET format = ${format}`,
    )
  if (head?.format !== format)
    throw new ConfigError(
      `the shared log has the format ${head?.format ?? 'none'}, and this release knows format ${format}${(head?.format ?? 0) > format ? ': start this node with the newer release of the other nodes' : ''}`,
    )
  return head.log_id
}

/** A node of any release that was cut off while the log was closed still has it open. PostgreSQL itself refuses its next batch. */
const refuseBatches = `
  CREATE OR REPLACE FUNCTION mindledger.refuse_moved() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'this log was moved to a data directory, and goes on there: end this node' USING ERRCODE = '${movedCode}'; END $$;
  DROP TRIGGER IF EXISTS head_moved ON mindledger.head;
  CREATE TRIGGER head_moved BEFORE UPDATE ON mindledger.head
    FOR EACH ROW WHEN (old.format = ${moved} AND new.format = ${moved}) EXECUTE FUNCTION mindledger.refuse_moved()`

/**
 * Closes the log after a batch, because it goes on in a data directory: no node opens it or writes to it. Returns false when it has a newer
 * batch.
 */
export const closeAfter = async (session: SharedLogSession, seq: number): Promise<boolean> => {
  await session.query(`BEGIN; ${refuseBatches}; COMMIT`)
  const { rowCount } = await session.query('UPDATE mindledger.head SET format = $1 WHERE seq = $2', [moved, seq])
  return rowCount === 1
}

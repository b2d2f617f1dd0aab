import type { BlobConnections } from './blob-connections.js'

/**
 * `blobs` lists complete blobs; `blob_objects` lists unfinished uploads and bytes to remove. An object is in one of them before its first
 * byte is stored, and until its last byte is removed. `is_damaged` says that a reader did not find the bytes that were stored.
 * `blob_chunks` has the bytes of the objects that are kept in PostgreSQL.
 */
const tables = `
  BEGIN;
  SELECT pg_advisory_xact_lock(hashtextextended('mindledger.blobs', 0));
  CREATE SCHEMA IF NOT EXISTS mindledger;
  CREATE TABLE IF NOT EXISTS mindledger.blobs (
    sha      text COLLATE "C" PRIMARY KEY,
    object   uuid NOT NULL,
    place    text NOT NULL,
    bytes    bigint NOT NULL,
    put_at   timestamptz NOT NULL,
    is_named boolean NOT NULL DEFAULT false
  );
  ALTER TABLE mindledger.blobs ADD COLUMN IF NOT EXISTS is_damaged boolean NOT NULL DEFAULT false;
  CREATE INDEX IF NOT EXISTS blobs_unnamed ON mindledger.blobs (put_at) WHERE NOT is_named;
  CREATE TABLE IF NOT EXISTS mindledger.blob_objects (
    object    uuid PRIMARY KEY,
    sha       text NOT NULL,
    place     text NOT NULL,
    since     timestamptz NOT NULL,
    is_doomed boolean NOT NULL DEFAULT false
  );
  CREATE INDEX IF NOT EXISTS blob_objects_by_sha ON mindledger.blob_objects (sha);
  CREATE TABLE IF NOT EXISTS mindledger.blob_chunks (
    object uuid NOT NULL,
    number integer NOT NULL,
    body   bytea NOT NULL,
    PRIMARY KEY (object, number)
  );
  ALTER TABLE mindledger.blob_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
  COMMIT
`

/** Creates the tables and the column that are missing; any number of nodes may do so at once. @throws Problem storage_failed */
export const openBlobTables = async (connections: BlobConnections): Promise<void> => {
  const [found] = await connections.query<{ there: boolean }>(
    `SELECT EXISTS (SELECT FROM pg_catalog.pg_attribute
       WHERE attrelid = to_regclass('mindledger.blobs') AND attname = 'is_damaged' AND NOT attisdropped) AS there`,
  )
  if (found?.there !== true) await connections.statements(tables)
}

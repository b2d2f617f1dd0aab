/** The limits of a log that nodes share. They move to src/basics/limits.ts when there is a setting for it. */
export const sharedLimits = {
  /** The longest time to connect to PostgreSQL and log in. */
  connectTimeoutMs: 3_000,
  /** The longest time that PostgreSQL works on one statement. */
  statementTimeoutMs: 5_000,
  /** After this a statement without an answer counts as lost. */
  answerTimeoutMs: 6_000,
  /** How long a node that stops waits for the end of a connection. */
  goodbyeMs: 500,
  /** How long a node may say nothing while it has the lock; PostgreSQL ends it then. */
  lockIdleTimeoutMs: 2_000,
  /** How often a follower looks by itself. */
  pollIntervalMs: 500,
  /** The longest wait before PostgreSQL is tried again; half of it is drawn at random. */
  reconnectMaxMs: 1_000,
  /** How long a write tries before it is refused, when PostgreSQL cannot be reached. */
  writePatienceMs: 3_000,
  /** How long a read waits for what other nodes acknowledged before it. */
  readPatienceMs: 1_000,
  /** How often a node tells the others that it lives. */
  nodeBeatMs: 1_000,
  /** A node that was not heard of for so long is dead. */
  nodeDeadAfterMs: 10_000,
  /** A node that was not heard of for so long is no longer listed. */
  nodeForgottenAfterMs: 7 * 24 * 3_600_000,
  /** A batch ends after the command with which it has so many bytes. */
  batchMaxBytes: 8 * 1024 * 1024,
  /** Batches that are fetched at once. */
  deltaMaxBatches: 500,
  /** The bytes of all but the first of them. */
  deltaMaxBytes: 16 * 1024 * 1024,
} as const

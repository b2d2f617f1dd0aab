/**
 * How much the long suites do. The environment variable of the same name changes each number: `PRINTED=100000 npm test --
 * property/printing`. The defaults fit the time of a run of all suites.
 */
const usual = {
  /** Random trees with hostile names that are printed, parsed again and compared. */
  PRINTED: 2_000,
  /** Random SELECTs that are answered beside DuckDB itself. */
  SELECTS: 400,
  /** Random SELECTs over a connected database that it answers itself as well. */
  CONNECTED_SELECTS: 200,
  /** Times that the smaller properties repeat. */
  PROPERTY_TIMES: 1,
  /** Changed logs and changed exports, each of which must be detected. */
  MANIPULATIONS: 60,
  /** Unchanged logs, each of which must pass. */
  HONEST_LOGS: 5,
  /** Secrets, rows of predictions and rows of files that are planted, and kills while they are erased. */
  PLANTED: 33,
  KILLS: 2,
  /** Commands that are sent up to five times with kills between. */
  COMMANDS: 60,
  /** Rounds of writes, kill and restart: of the log alone, and of the whole service. */
  LOG_ROUNDS: 3,
  SERVICE_ROUNDS: 3,
  /** Kills of the service while clients converse with its chatbots. */
  CHATBOT_KILLS: 3,
  /** Of a log that nodes share: reads after writes elsewhere, writes beside sessions that end, and disturbances of nodes in processes. */
  SHARED_READS: 200,
  /** Reads over REST and SQL on one server right after a write on another. */
  NODE_READS: 60,
  /** The same of nodes that serve, with jobs, trainings and tables. */
  NODE_BLOWS: 4,
  SHARED_WRITES: 60,
  SHARED_BLOWS: 8,
  /** Rotations of the master key that are killed. */
  ROTATIONS: 2,
  /** Backups under write load. */
  BACKUPS: 1,
  /** Rows that are predicted while every look counts them. */
  SOAK_ROWS: 160_000,
  /** Events of a log that must not delay a start. */
  START_EVENTS: 5_000,
  /** Random faults of connected databases, one after the other. */
  FAULTS: 25,
  /** Minutes that such faults go on for at least: 30 for a long run. */
  FAULT_MINUTES: 0,
  /** Random bodies that are sent to each route. */
  FUZZ_RUNS: 300,
  /** Recorded answers that are made again to the byte. */
  RERUNS: 100,
  /** The seed of the random choices. */
  SEED: 1,
} as const

/** Whether a suite runs at another length than usual: it may take hours. */
export const isLong = Object.keys(usual).some((name) => name !== 'SEED' && process.env[name] !== undefined)

/** @example countOf('PRINTED') // 2000, or what PRINTED says */
export const countOf = (name: keyof typeof usual): number => Number(process.env[name] ?? usual[name])

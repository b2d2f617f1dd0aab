/**
 * The number of repetitions in the long suites. The environment variable of the same name changes each number: `PRINTED=100000 npm test --
 * property/printing`. The defaults keep a run of all suites short.
 */
const usual = {
  /** Random trees with hostile names to print, parse again and compare. */
  PRINTED: 2_000,
  /** Random SELECTs whose answers are compared with DuckDB's own. */
  SELECTS: 400,
  /** Random SELECTs over a connected database, whose answers are compared with that database's own. */
  CONNECTED_SELECTS: 200,
  /** Repetitions of the smaller properties. */
  PROPERTY_TIMES: 1,
  /** Changed logs and changed exports, all of which must be detected. */
  MANIPULATIONS: 60,
  /** Unchanged logs, all of which must pass. */
  HONEST_LOGS: 5,
  /** Planted secrets, rows of predictions and rows of files, and the kills during their erasure. */
  PLANTED: 33,
  KILLS: 2,
  /** Commands that are sent up to five times, with kills in between. */
  COMMANDS: 60,
  /** Rounds of writing, killing and restarting: of the log alone, and of the whole service. */
  LOG_ROUNDS: 3,
  SERVICE_ROUNDS: 3,
  /** Kills of the service while clients converse with its chatbots. */
  CHATBOT_KILLS: 3,
  /** For a shared log: reads after writes on other nodes, writes while sessions end, and disturbances of nodes in processes. */
  SHARED_READS: 200,
  /** Reads over REST and SQL on one server, right after a write on another one. */
  NODE_READS: 60,
  /** Disturbances of complete nodes, which run jobs, trainings and tables: one of each kind. */
  NODE_BLOWS: 5,
  SHARED_WRITES: 60,
  SHARED_BLOWS: 8,
  /** Rotations of the master key during which the process is killed. */
  ROTATIONS: 2,
  /** Backups under write load. */
  BACKUPS: 1,
  /** Rows that are predicted while other requests count them. */
  SOAK_ROWS: 160_000,
  /** Events of a log whose start must not be slow. */
  START_EVENTS: 5_000,
  /** Random faults of connected databases, one after the other. */
  FAULTS: 25,
  /** The least duration of such faults in minutes: 30 for a long run. */
  FAULT_MINUTES: 0,
  /** Random bodies that are sent to each route. */
  FUZZ_RUNS: 300,
  /** The time in seconds for which the console must do without its service: 300 for minutes. */
  CONSOLE_AWAY_SECONDS: 4,
  /** Recorded answers that are reproduced byte for byte. */
  RERUNS: 100,
  /** The seed of the random choices. */
  SEED: 1,
} as const

/** Whether a suite runs with a changed number: it may take hours. */
export const isLong = Object.keys(usual).some((name) => name !== 'SEED' && process.env[name] !== undefined)

/** @example countOf('PRINTED') // 2000, or what PRINTED says */
export const countOf = (name: keyof typeof usual): number => Number(process.env[name] ?? usual[name])

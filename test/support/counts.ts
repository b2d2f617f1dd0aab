/**
 * How much the long suites do, each raised by the environment variable of its name: `PRINTED=100000 npm test -- property/printing`.
 * The defaults are what a run of all suites has time for.
 */
const usual = {
  /** Random trees with hostile names that are printed, parsed again and compared. */
  PRINTED: 2_000,
  /** Random SELECTs that are answered beside DuckDB itself. */
  SELECTS: 400,
  /** Times that the smaller properties repeat. */
  PROPERTY_TIMES: 1,
  /** Changed logs and changed exports, each of which is to be found. */
  MANIPULATIONS: 60,
  /** Logs that nobody changed, each of which is to hold. */
  HONEST_LOGS: 5,
  /** Secrets, rows of predictions and rows of files that are planted, and kills while they are erased. */
  PLANTED: 33,
  KILLS: 2,
  /** Commands that are sent up to five times with kills between. */
  COMMANDS: 60,
  /** Rounds of writes, kill and restart: of the log alone, and of the whole service. */
  LOG_ROUNDS: 3,
  SERVICE_ROUNDS: 3,
  /** Rotations of the master key that are killed. */
  ROTATIONS: 2,
  /** Backups under write load. */
  BACKUPS: 1,
  /** Rows that are predicted while every look counts them. */
  SOAK_ROWS: 160_000,
  /** Events of a log that a start must not wait for. */
  START_EVENTS: 5_000,
  /** Random bodies that are sent to each route. */
  FUZZ_RUNS: 300,
  /** Where the random choices begin. */
  SEED: 1,
} as const

/** @example countOf('PRINTED') // 2000, or what PRINTED says */
export const countOf = (name: keyof typeof usual): number => Number(process.env[name] ?? usual[name])

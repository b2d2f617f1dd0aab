/** What talks to a database, by the names of the engines that speak its protocol. */
const drivers = {
  postgres: [
    'postgres',
    'postgresql',
    'timescaledb',
    'cockroachdb',
    'redshift',
    'aurora',
    'supabase',
    'pgvector',
    'greenplum',
    'yugabyte',
    'alloydb',
  ],
  mysql: ['mysql', 'mariadb', 'aurora_mysql', 'planetscale', 'singlestore', 'tidb'],
  sqlite: ['sqlite'],
  duckdb: ['duckdb'],
  parquet: ['parquet'],
} as const satisfies Record<string, readonly string[]>

export type DriverName = keyof typeof drivers

const byName: ReadonlyMap<string, DriverName> = new Map(
  (Object.keys(drivers) as DriverName[]).flatMap((driver) => drivers[driver].map((name) => [name, driver] as const)),
)

/** What talks to the databases of an engine; undefined for engines that are records only. @example driverOf('timescaledb') // 'postgres' */
export const driverOf = (engine: string): DriverName | undefined => byName.get(engine.toLowerCase())

/** Whether the databases of an engine are files of this machine. */
export const isOfFiles = (engine: string): boolean => ['sqlite', 'duckdb', 'parquet'].includes(driverOf(engine) ?? '')

/** The engines of connections, with the titles of their systems. */
export const connectionEngines: ReadonlyMap<string, string> = new Map(
  Object.entries({
    slack: 'Slack',
    discord: 'Discord',
    telegram: 'Telegram',
    webhook: 'Webhook',
    microsoft_teams: 'Microsoft Teams',
    twilio: 'Twilio',
    whatsapp: 'WhatsApp',
    email: 'Email',
    gmail: 'Gmail',
    github: 'GitHub',
    gitlab: 'GitLab',
    jira: 'Jira',
    confluence: 'Confluence',
    notion: 'Notion',
    hubspot: 'HubSpot',
    salesforce: 'Salesforce',
    shopify: 'Shopify',
    stripe: 'Stripe',
    postgres: 'PostgreSQL',
    postgresql: 'PostgreSQL',
    mysql: 'MySQL',
    mariadb: 'MariaDB',
    aurora: 'Amazon Aurora',
    aurora_mysql: 'Amazon Aurora MySQL',
    greenplum: 'Greenplum',
    yugabyte: 'YugabyteDB',
    alloydb: 'AlloyDB',
    planetscale: 'PlanetScale',
    singlestore: 'SingleStore',
    tidb: 'TiDB',
    mssql: 'Microsoft SQL Server',
    oracle: 'Oracle',
    sqlite: 'SQLite',
    duckdb: 'DuckDB',
    parquet: 'Parquet files',
    clickhouse: 'ClickHouse',
    snowflake: 'Snowflake',
    bigquery: 'Google BigQuery',
    redshift: 'Amazon Redshift',
    databricks: 'Databricks',
    mongodb: 'MongoDB',
    elasticsearch: 'Elasticsearch',
    redis: 'Redis',
    cassandra: 'Cassandra',
    cockroachdb: 'CockroachDB',
    timescaledb: 'TimescaleDB',
    supabase: 'Supabase',
    trino: 'Trino',
    presto: 'Presto',
    athena: 'Amazon Athena',
    dynamodb: 'Amazon DynamoDB',
    s3: 'Amazon S3',
    google_sheets: 'Google Sheets',
    airtable: 'Airtable',
    web: 'Web',
    chromadb: 'Chroma',
    pgvector: 'pgvector',
    qdrant: 'Qdrant',
    weaviate: 'Weaviate',
    pinecone: 'Pinecone',
    milvus: 'Milvus',
  }),
)

/**
 * Why the service records a connection but cannot read it.
 *
 * @example whyNotOpened('slack') // 'Slack connections are only recorded: this service cannot talk to this system'
 */
export const whyNotOpened = (engine: string): string =>
  `${connectionEngines.get(engine) ?? engine} connections are only recorded: this service cannot talk to this system`

/** The drivers of databases, by the names of the engines with their protocols. */
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
  // Not TiDB: it refuses START TRANSACTION READ ONLY unless a switch of the server makes that a statement without effect.
  mysql: ['mysql', 'mariadb', 'aurora_mysql', 'planetscale', 'singlestore'],
  sqlite: ['sqlite'],
  duckdb: ['duckdb'],
  parquet: ['parquet'],
} as const satisfies Record<string, readonly string[]>

export type DriverName = keyof typeof drivers

const byName: ReadonlyMap<string, DriverName> = new Map(
  (Object.keys(drivers) as DriverName[]).flatMap((driver) => drivers[driver].map((name) => [name, driver] as const)),
)

/** The driver of an engine; undefined for engines whose connections are only recorded. @example driverOf('timescaledb') // 'postgres' */
export const driverOf = (engine: string): DriverName | undefined => byName.get(engine.toLowerCase())

/**
 * The engine whose protocol a connection speaks: Aurora speaks two, and its parameter `db_engine` says which.
 *
 * @example engineSpoken('aurora', { db_engine: 'mysql' }) // 'aurora_mysql'
 */
export const engineSpoken = (engine: string, parameters: Readonly<Record<string, unknown>>): string => {
  const isMysql = Object.entries(parameters).some(([name, value]) => name.toLowerCase() === 'db_engine' && /^mysql$/i.test(String(value)))
  return isMysql && engine.toLowerCase() === 'aurora' ? 'aurora_mysql' : engine
}

const ports: Readonly<Record<string, number>> = { redshift: 5_439, cockroachdb: 26_257, yugabyte: 5_433 }

/** The default port of the databases of an engine. @example portOf('redshift') // 5439 */
export const portOf = (engine: string): number => ports[engine.toLowerCase()] ?? (driverOf(engine) === 'mysql' ? 3_306 : 5_432)

/** Whether the databases of an engine are files of this machine. */
export const isOfFiles = (engine: string): boolean => ['sqlite', 'duckdb', 'parquet'].includes(driverOf(engine) ?? '')

/** The systems that a connection may name, with their titles. */
export const connectionEngines: ReadonlyMap<string, string> = new Map(
  Object.entries({
    slack: 'Slack',
    discord: 'Discord',
    telegram: 'Telegram',
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
    mysql: 'MySQL',
    mariadb: 'MariaDB',
    mssql: 'Microsoft SQL Server',
    oracle: 'Oracle',
    sqlite: 'SQLite',
    duckdb: 'DuckDB',
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

const extensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    postgres: 'postgres',
    supabase: 'postgres',
    cockroachdb: 'postgres',
    timescaledb: 'postgres',
    pgvector: 'postgres',
    redshift: 'postgres',
    mysql: 'mysql',
    mariadb: 'mysql',
    sqlite: 'sqlite',
    s3: 'httpfs',
    bigquery: 'bigquery',
    snowflake: 'snowflake',
    mssql: 'mssql',
    google_sheets: 'gsheets',
    mongodb: 'mongo',
  }),
)

/** The DuckDB extension that reads an engine's tables, if there is one. `extensionOf('mariadb')` → `mysql` */
export const extensionOf = (engine: string): string | undefined => extensions.get(engine)

/**
 * Why a connection is recorded but cannot be read.
 *
 * @example whyNotOpened('mariadb') // 'MariaDB connections are kept and not opened: the DuckDB extension mysql is not installed'
 */
export const whyNotOpened = (engine: string): string => {
  const extension = extensionOf(engine)
  const why = extension === undefined ? 'this service does not talk to it' : `the DuckDB extension ${extension} is not installed`
  return `${connectionEngines.get(engine) ?? engine} connections are kept and not opened: ${why}`
}

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

/**
 * Why a connection is recorded but cannot be read.
 *
 * @example whyNotOpened('slack') // 'Slack connections are kept and not opened: this service does not talk to it'
 */
export const whyNotOpened = (engine: string): string =>
  `${connectionEngines.get(engine) ?? engine} connections are kept and not opened: this service does not talk to it`

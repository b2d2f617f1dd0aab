/** The metric of a table. */
export type Metric = 'R²' | 'AUC' | 'accuracy'

/**
 * A table of the accuracy bench. `query` reads it from files of the folder `@`, in file order. `best` is the best result of four tree
 * libraries (scikit-learn, LightGBM, XGBoost, CatBoost) with their defaults on the same test rows.
 */
export type Table = {
  name: string
  metric: Metric
  target: string
  query: string
  best: number
  /** For small tables: CatBoost's mean on the ten seeded splits, by the script in docs/use/accuracy.md. */
  catboost?: number
}

/**
 * The queries only drop what the task excludes, and read numbers that a file stores as text: `sqft` has two values with a decimal comma,
 * `TotalCharges` eleven blanks. Files without a header line get names.
 */
export const tables: readonly Table[] = [
  {
    name: 'california_housing',
    metric: 'R²',
    target: 'median_house_value',
    query: "SELECT * FROM read_csv('@/california_housing.csv')",
    best: 0.8459,
  },
  {
    name: 'home_rentals',
    metric: 'R²',
    target: 'rental_price',
    query: "SELECT * EXCLUDE (initial_price) REPLACE (replace(sqft, ',', '.')::DOUBLE AS sqft) FROM read_csv('@/home_rentals.csv')",
    best: 0.9995,
  },
  {
    name: 'diabetes',
    metric: 'R²',
    target: 'progression',
    query: `SELECT * FROM read_csv('@/diabetes_data_raw.csv', delim = ' ', header = false)
      POSITIONAL JOIN read_csv('@/diabetes_target.csv', header = false, names = ['progression'])`,
    best: 0.4689,
    catboost: 0.4071,
  },
  {
    name: 'adult',
    metric: 'AUC',
    target: 'salary',
    query: 'SELECT * EXCLUDE (column00, "salary K$") FROM read_csv(\'@/adult.csv\')',
    best: 0.8925,
  },
  {
    name: 'telco_churn',
    metric: 'AUC',
    target: 'Churn',
    query: "SELECT * EXCLUDE (customerID) REPLACE (TRY_CAST(TotalCharges AS DOUBLE) AS TotalCharges) FROM read_csv('@/telco_churn.csv')",
    best: 0.8375,
  },
  {
    name: 'titanic',
    metric: 'AUC',
    target: 'Survived',
    query: "SELECT * EXCLUDE (PassengerId, Name, Ticket) FROM read_csv('@/titanic.csv')",
    best: 0.8732,
    catboost: 0.8524,
  },
  {
    name: 'breast_cancer',
    metric: 'AUC',
    target: 'column30',
    query: "SELECT * FROM read_csv('@/breast_cancer.csv', header = false, skip = 1)",
    best: 0.9938,
    catboost: 0.9924,
  },
  {
    name: 'digits',
    metric: 'accuracy',
    target: 'column64',
    query: "SELECT * FROM read_csv('@/digits.csv', header = false)",
    best: 0.964,
  },
  {
    name: 'hdi',
    metric: 'accuracy',
    target: 'Development Index',
    query: "SELECT * FROM read_csv('@/hdi.csv')",
    best: 1,
    catboost: 0.993,
  },
]

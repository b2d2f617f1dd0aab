/** Room: the variables and settings that clients set for themselves, and those of DuckDB. It imports only dialect. */

import { serverVariables } from '../../../dialect/server-variables.js'

/** Variables that clients set for their connection, beside those in SHOW VARIABLES. None of them changes the answer of a query here. */
const others = `
  names character charset transaction application_name client_encoding datestyle extra_float_digits character_set_database
  collation_database completion_type context foreign_key_checks innodb_lock_wait_timeout lc_messages lock_wait_timeout
  net_read_timeout optimizer_switch predictor_cache profiling show_secrets sql_auto_is_null sql_big_selects sql_log_bin
  sql_notes sql_quote_show_create sql_safe_updates sql_warnings transaction_read_only unique_checks`

/** Variables that SET accepts without an effect, in lower case. */
export const clientVariables: ReadonlySet<string> = new Set([
  ...others.split(/\s+/).filter((name) => name !== ''),
  ...serverVariables.map(([name]) => name),
])

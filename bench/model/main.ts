import { california } from './california.js'
import { serving } from './serving.js'
import { trees } from './trees.js'

/** What models take: in process, in SQL, and over REST while another one trains. The tables' folder is only needed for SQL. */
export const model = async (folder?: string): Promise<void> => {
  await trees()
  if (folder !== undefined) await california(folder)
  else console.log('model: name the folder of the tables for scoring in SQL: npm run bench -- model <folder>')
  await serving()
}

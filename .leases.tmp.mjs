import { DuckDBInstance } from '@duckdb/node-api'
const i = await DuckDBInstance.create('/tmp/hc/m.duckdb', { threads: '2' })
const med = a => a.sort((x,y)=>x-y)[a.length>>1]
const one = async (c, sql) => { const p = await c.prepare(sql); const r = await p.stream(); for (let k = await r.fetchChunk(); k && k.rowCount>0; k = await r.fetchChunk()); p.destroySync() }
const sqls = { 'SELECT 1': 'SELECT 1', parse: `SELECT json_serialize_sql('SELECT a FROM t WHERE b = 1')`}
const kept = await i.connect(); for (const s of Object.values(sqls)) await one(kept, s)
for (const [name, sql] of Object.entries(sqls)) {
  const fresh=[], reuse=[]
  for (let n=0;n<1500;n++) {
    let t=performance.now(); const c = await i.connect(); await one(c, sql); c.closeSync(); fresh.push(performance.now()-t)
    t=performance.now(); await one(kept, sql); reuse.push(performance.now()-t)
  }
  console.log(name, 'new', med(fresh).toFixed(3), 'reused', med(reuse).toFixed(3))
}

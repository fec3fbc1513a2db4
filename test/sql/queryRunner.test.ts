import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createQueryRunner, QueryFailed, QueryStopped } from '../../src/sql/queryRunner.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { temporaryDirectory } from '../support/temporary.js'

const ENDLESS = 'WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'

test('a query that is stopped, left or wrong leaves a runner that answers the next one', async (t) => {
  const datadir = temporaryDirectory(t)
  openForWriting(datadir).close()
  const runner = createQueryRunner({ datadir })
  t.after(runner.close)
  const read = async (sql: string, signal?: AbortSignal) => {
    const rows: unknown[] = []
    for await (const { values } of runner.run({ sql, format: 'values' }, { signal })) rows.push(...values)
    return rows
  }
  const stop = new AbortController()
  const stopped = assert.rejects(read(ENDLESS, stop.signal), QueryStopped)
  stop.abort()
  await stopped
  assert.deepEqual(await read('SELECT 1'), [[1n]])
  for await (const { values } of runner.run({ sql: ENDLESS.replace('count(*)', 'i'), format: 'values' })) {
    assert.equal(values.length, 500)
    break
  }
  assert.deepEqual(await read('SELECT 2'), [[2n]])
  await assert.rejects(read('SELECT nonsense'), QueryFailed)
  assert.deepEqual(await read('SELECT 3'), [[3n]])
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnNode } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'

test('the lake benchmark exports, compares the rows, and gets the same answers from SQLite and DuckDB', async (t) => {
  const json = join(temporaryDirectory(t), 'lake.json')
  const script = packagePath('build/bench/lake.js')
  const { code, stdout, stderr } = await spawnNode([script, '--logs', '3000', '--json', json]).ended
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^rows of logs equal those of v_logs$/m)
  assert.match(stdout, /^DuckDB finds as many logs of \d\d addresses as SQL$/m)
  const { exported, queries } = JSON.parse(readFileSync(json, 'utf8')) as {
    exported: { logs: { rows: number; bytesPerRow: number } }
    queries: unknown[]
  }
  assert.ok(exported.logs.rows >= 3000 && exported.logs.bytesPerRow > 10)
  assert.equal(queries.length, 10)
})

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createQueryRunner } from '../../src/sql/queryRunner.js'
import { packagePath } from '../../src/store/open.js'
import type { SqlValue } from '../../src/store/sql/runQuery.js'
import { spawnNode } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'

const TOKEN = '0xed01f80b3b7f874af79e90e91e4ccca7fce24344'

test('v_calls names methods by added ABIs first, and marks those of a signature file', async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const runner = createQueryRunner({ datadir })
  t.after(runner.close)
  const rows = async (sql: string) => {
    const found: (readonly SqlValue[])[] = []
    for await (const { values } of runner.run({ sql, format: 'values' })) found.push(...values)
    return found
  }
  const transfer = `SELECT method, arguments, is_guess FROM v_calls
    WHERE "to" = '${TOKEN}' AND selector = '0xa9059cbb' LIMIT 1`
  const failing = `SELECT method, signature, arguments, is_guess FROM v_calls WHERE selector = '0xf8f50b81'`
  const to = '0xcf15d2ba0a658426b2a12c3d46f91478de39eacb'
  const amount = '25000000000000000000'
  assert.deepEqual(await rows(transfer), [['transfer', JSON.stringify({ to, value: amount }), 0n]])
  assert.deepEqual(await rows(failing), [[null, null, null, null]])

  const abi = [{ type: 'function', name: 'transfer', inputs: [{ type: 'address' }, { name: 'arg0', type: 'uint256' }] }]
  const file = join(temporaryDirectory(t), 'Odd.json')
  writeFileSync(file, JSON.stringify(abi))
  const signatures = join(temporaryDirectory(t), 'signatures.txt')
  writeFileSync(signatures, '0xf8f50b81 failString()\n')
  for (const args of [[file], ['--signatures', signatures]]) {
    const { code, stderr } = await spawnNode([
      packagePath('dist/cli/main.js'),
      ...['abi', 'add', '--datadir', datadir, ...args],
    ]).ended
    assert.equal(code, 0, stderr)
  }
  assert.deepEqual(await rows(transfer), [['transfer', JSON.stringify({ arg0: to, arg0_: amount }), 0n]])
  assert.deepEqual(await rows(failing), [['failString', 'failString()', '{}', 1n]])
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { serveFixture, spawnProgram } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const PYTHON = process.env.CAIRN_TEST_PYTHON ?? 'python3'
const skip = spawnSync(PYTHON, ['--version'], { stdio: 'ignore' }).status === 0 ? false : `no ${PYTHON}`

test('the Python client of docs/embedding.md calls methods, queries SQL and raises errors', { skip }, async (t) => {
  const page = readFileSync(packagePath('docs/embedding.md'), 'utf8')
  const [, code] = /^```python\n([\s\S]*?)^```$/m.exec(page) ?? assert.fail('no example')
  const { url } = await serveFixture(t, ['--sql'])
  const checks = `
from urllib.error import HTTPError
assert head + 1 == len(blocks) and blocks[head]["number"] == head, (head, len(blocks))
try:
    cairn.call("eth_getBalance", "0x12")
except RuntimeError as error:
    print(error)
try:
    cairn.sql("SELECT misspelt FROM v_blocks")
except HTTPError as error:
    print(error.code, json.load(error)["error"])
print(head, len(logs))
`
  const path = join(temporaryDirectory(t), 'client.py')
  writeFileSync(path, code.replace('http://127.0.0.1:8545', url) + checks)
  const { code: status, stdout, stderr } = await spawnProgram(PYTHON, [path]).ended
  assert.equal(status, 0, stderr)
  const [argument, column, last] = stdout.trimEnd().split('\n')
  assert.match(argument, /^invalid argument 0: /)
  assert.match(column, /^400 no such column: misspelt/)
  const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
  const range = { fromBlock: `0x${(head - 9).toString(16)}`, toBlock: `0x${head.toString(16)}` }
  const decoded = await resultOf<unknown[]>(url, 'cairn_getDecodedLogs', [range])
  assert.ok(decoded.length > 0)
  assert.equal(last, `${head} ${decoded.length}`)
})

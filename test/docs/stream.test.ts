import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Table } from 'apache-arrow'
import { type Serving, startServing } from '../../src/cli/serving.js'
import { packagePath } from '../../src/store/open.js'
import { spawnProgram } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { servingOptions } from '../support/serving.js'
import { askStream } from '../support/streamClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const PAGE = readFileSync(packagePath('docs/stream.md'), 'utf8')
const PYTHON = process.env.CAIRN_TEST_PYTHON ?? 'python3'
const PACKAGES = 'requests, pyarrow, polars, pandas, duckdb'

const hasPackages = spawnSync(PYTHON, ['-c', `import ${PACKAGES}`], { stdio: 'ignore' }).status === 0
const skip = hasPackages ? false : `${PYTHON} lacks some of ${PACKAGES}; CAIRN_TEST_PYTHON names another one`

const datadir = temporaryDirectory({ after })
let serving: Serving
before(async () => {
  await importFixture(datadir)
  serving = await startServing(servingOptions(datadir))
})
after(() => serving.close())

/** The only block of code in a language. */
function exampleIn(language: string): string {
  const found = [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
  assert.equal(found.length, 1, language)
  return found[0][1]
}

test('the Python example reads a stream with Polars, pandas and DuckDB', { skip }, async (t) => {
  const code = exampleIn('python').replace('http://localhost:8545/v3/KEY', `${serving.url}/v3`)
  const path = join(temporaryDirectory(t), 'example.py')
  const checks = `
assert logs.height == transfers.num_rows == len(frame), (logs.height, transfers.num_rows, len(frame))
assert [str(type) for type in transfers.schema.types[:4]] == ["uint32", "uint32", "uint32", "binary"], transfers.schema
assert bytes(frame["topic0"][0]).hex() == TRANSFER[2:] and frame["topic3"].isna().any()
print(logs.height, int(frame["log_index"].sum()), logs["data"].bin.size().sum())
compressed, end = stream(**{"from": 0, "logs": [{"topics": [TRANSFER]}], "compression": "zstd"})
assert len(compressed) < len(body)
assert pa.ipc.open_stream(compressed).read_all() == transfers
assert pl.read_ipc_stream(compressed).equals(logs)
everything, end = stream(**{"from": 5000000, "transactions": [{}]})
assert pl.read_ipc_stream(everything).height == pa.ipc.open_stream(everything).read_all().num_rows == 0
`
  writeFileSync(path, code + checks)
  const { code: status, stdout, stderr } = await spawnProgram(PYTHON, [path]).ended
  assert.equal(status, 0, stderr)
  const transfer = /TRANSFER = "(0x\w{64})"/.exec(code)![1]
  const { rows } = await askStream(`${serving.url}/v3/stream`, { from: 0, logs: [{ topics: [transfer] }] })
  const sum = (column: string) => rows.log.reduce((total, row) => total + Number(row[column]), 0)
  assert.equal(stdout.trimEnd().split('\n').at(-1), `${rows.log.length} ${sum('log_index')} ${sum('n_data_bytes')}`)
})

test('the TypeScript example follows the chain in parts', async (t) => {
  mkdirSync(packagePath('build/examples'), { recursive: true })
  const folder = mkdtempSync(join(packagePath('build/examples'), 'stream-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'follow.ts')
  const code = exampleIn('ts').replace('64_000_000', '200_000')
  assert.ok(code.split('\n').length < 20)
  writeFileSync(path, code)
  type Follow = (url: string, add: (logs: Table) => void, drop: (block: number) => void, until: number) => Promise<void>
  const { follow } = (await import(pathToFileURL(path).href)) as { follow: Follow }
  const url = `${serving.url}/v3/stream`
  const { rows, end } = await askStream(url, { from: 0, logs: [{}] })
  let found = 0
  const dropped: number[] = []
  await follow(
    url,
    (logs) => {
      found += logs.numRows
    },
    (block) => void dropped.push(block),
    end!.head!.number,
  )
  assert.equal(found, rows.log.length)
  assert.ok(dropped.length > 3 && dropped.at(-1) === end!.nextBlock, dropped.join())
})

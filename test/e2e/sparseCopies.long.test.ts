import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { buildRandomChain } from '../../tools/fuzz-chain/buildChain.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { untilBlockNumber } from '../support/until.js'

/* A database with sparse state is copied, rewound and exported as any other; without an upstream it answers what it
 * knows. */

const SEED = 3
/** All that a stored block read is stored with it. The prestate tracer lists accounts that a transaction names without
 *  reading them, such as the signer of an invalid authorization: they may be unknown. */
const PRESTATE = { tracer: 'prestateTracer' }
const TRACES = [
  {},
  ...['callTracer', 'flatCallTracer', '4byteTracer'].map((tracer) => ({ tracer })),
  PRESTATE,
  { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
]

test('copies of a database with sparse state answer what it knows, exports have the rows of the complete one, and it is rewound', async (t) => {
  const { folder, datadir, complete, first, head } = await makeSparse(t)
  const snapshots = temporaryDirectory(t)
  await runCairnOk(['snapshot', 'create', snapshots, '--datadir', datadir])
  const restored = join(temporaryDirectory(t), 'restored')
  await runCairnOk(['snapshot', 'restore', snapshots, '--datadir', restored])
  const backup = temporaryDirectory(t)
  await runCairnOk(['backup', join(backup, 'cairn.db'), '--datadir', datadir])
  for (const [i, copy] of [restored, backup].entries()) {
    assert.match(await runCairnOk(['verify', '--datadir', copy]), /^state: roots of \d+ blocks, /m)
    const { url } = await startCairn(t, ['--datadir', copy, '--open'])
    for (let number = first + 1; number <= head; number++) {
      // By default each copy shows its part of the blocks.
      if (!THOROUGH && number % 2 !== i) continue
      for (const options of TRACES) {
        const params = [formatQuantity(number), options]
        const [own, wanted] = await Promise.all(
          [url, complete].map((each) => ask(each, 'debug_traceBlockByNumber', params)),
        )
        if (options === PRESTATE && / is not known: /.test(JSON.stringify(own))) continue
        assert.deepEqual(own, wanted, `block ${number}, ${JSON.stringify(options)}`)
      }
    }
    const unknown = await ask(url, 'eth_getBalance', [`0x${'5e'.repeat(20)}`, 'latest'])
    assert.match(JSON.stringify(unknown), /state of 0x5e\w+ at block \d+ is not known/)
  }
  const names = ['balance-diffs', 'storage-diffs', 'contracts']
  const [own, wanted] = await Promise.all(
    [datadir, await importComplete(t, folder)].map(async (source) => {
      const out = temporaryDirectory(t)
      const range = ['--blocks', `${first + 1}:${head}`, '--format', 'csv']
      await runCairnOk(['export', ...names, '--datadir', source, '--out', out, ...range])
      return readAll(out)
    }),
  )
  assert.ok(own.size >= names.length)
  assert.deepEqual([...own.values()], [...wanted.values()])
  const early = await runCairn([
    'export',
    'contracts',
    '--datadir',
    datadir,
    '--out',
    temporaryDirectory(t),
    '--blocks',
    `${first}:${head}`,
  ])
  assert.match(
    early.stderr,
    new RegExp(`--blocks: block ${first} is not available; contracts has ${first + 1} to ${head}`),
  )
  await runCairnOk(['rewind', '--to', String(first + 3), '--datadir', datadir])
  assert.match(await runCairnOk(['verify', '--datadir', datadir]), /^state: roots of 3 blocks, /m)
})

/** Follows a random chain with sparse state, from its first block of Cancun to its head. */
async function makeSparse(t: TestContext) {
  const folder = temporaryDirectory(t)
  const chain = await buildRandomChain(SEED)
  writeFileSync(join(folder, 'genesis.json'), chain.genesis)
  writeFileSync(join(folder, 'chain.rlp'), chain.chainRlp)
  const { url: complete } = await startCairn(t, ['--fixture', folder])
  const { config } = JSON.parse(chain.genesis) as { config: { cancunTime: number } }
  let first = 0
  const timeOf = async (number: number) =>
    Number(
      (await resultOf<{ timestamp: string }>(complete, 'eth_getBlockByNumber', [formatQuantity(number), false]))
        .timestamp,
    )
  while ((await timeOf(first)) < config.cancunTime) first++
  const datadir = temporaryDirectory(t)
  const sparse = ['--genesis', join(folder, 'genesis.json'), '--state', 'sparse', '--from', String(first)]
  const server = await startCairn(t, ['--datadir', datadir, '--open', ...sparse, '--upstream', complete])
  await untilBlockNumber(server, chain.head)
  await server.stop()
  return { folder, datadir, complete, first, head: chain.head }
}

async function importComplete(t: TestContext, folder: string): Promise<string> {
  const datadir = temporaryDirectory(t)
  await runCairnOk([
    'import',
    '--genesis',
    join(folder, 'genesis.json'),
    join(folder, 'chain.rlp'),
    '--datadir',
    datadir,
  ])
  return datadir
}

function readAll(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.csv'))
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

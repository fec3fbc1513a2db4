import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { measureRlp } from '../../src/chain/eth/rlp.js'
import { packagePath } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import { blockSpans, writeLongFile } from '../support/chains/blockFiles.js'
import { ETHER, HEAD, TOKEN } from '../support/chains/fixtureChain.js'
import { checkDatabase, digestDatabase } from '../support/compare/checkDatabase.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `cairn import` of files that are right, that are not, and of parts, with the bundled fixture chain. */

const GENESIS = packagePath('fixtures/chain/genesis.json')
const CHAIN = packagePath('fixtures/chain/chain.rlp')
const chain = readFileSync(CHAIN)

const spans = blockSpans(chain)
const blocks = (from: number, to: number) => chain.subarray(spans[from - 1].start, spans[to - 1].end)

/** A directory with a file of the content in it, and the arguments that import it. */
function prepare(t: TestContext, content: Uint8Array, { name = 'blocks.rlp', genesis = GENESIS } = {}) {
  const datadir = temporaryDirectory(t)
  const path = join(datadir, name)
  writeFileSync(path, content)
  return { datadir, path, args: ['import', '--datadir', datadir, '--genesis', genesis, path] }
}

/** The import's exit code and its words, without the progress. */
async function importing(args: readonly string[]) {
  const { code, stdout, stderr } = await runCairn(args)
  const complaints = stderr.split('\n').filter((line) => line.startsWith('cairn: '))
  return { code, summary: stdout.trim(), complaints }
}

test('the fixture chain is imported, and importing it again changes nothing', async (t) => {
  const { datadir, args } = prepare(t, chain)
  assert.equal((await importing(args)).summary, `${HEAD} blocks imported, 0 stored already`)
  const [head, digest] = [checkDatabase(datadir)!, digestDatabase(datadir)]
  assert.equal(head.number, HEAD)
  assert.equal((await importing(args)).summary, `0 blocks imported, ${HEAD} stored already`)
  assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], [head, digest])
})

test('parts, gzip, another name and repeated blocks give the same database', async (t) => {
  const whole = prepare(t, chain)
  await runCairnOk(whole.args)
  const { datadir, args } = prepare(t, blocks(1, 20))
  assert.equal((await importing(args)).summary, '20 blocks imported, 0 stored already')
  assert.equal(checkDatabase(datadir)!.number, 20)
  const packed = join(datadir, 'more.blocks.gz')
  writeFileSync(packed, gzipSync(blocks(11, 40)))
  // The database knows its chain by now.
  assert.equal(
    (await importing(['import', '--datadir', datadir, packed, CHAIN])).summary,
    `${HEAD - 20} blocks imported, 50 stored already`,
  )
  assert.deepEqual(checkDatabase(datadir), checkDatabase(whole.datadir))
  assert.equal(digestDatabase(datadir), digestDatabase(whole.datadir))
})

test('a truncated file is refused by place, and the blocks before it stay', async (t) => {
  const { start, end } = spans[29]
  const { datadir, path, args } = prepare(t, chain.subarray(0, end - 5))
  const { code, summary, complaints } = await importing(args)
  assert.deepEqual([code, summary, complaints.length], [1, '', 1])
  assert.ok(complaints[0].startsWith(`cairn: ${path}: at byte ${start} (block 30 of the file): `), complaints[0])
  assert.equal(checkDatabase(datadir)!.number, 29)
  assert.equal((await importing(['import', '--datadir', datadir, CHAIN])).code, 0)
  assert.equal(checkDatabase(datadir)!.number, HEAD)
})

test('a truncated gzip file is refused by place', async (t) => {
  const packed = gzipSync(chain)
  const { path, args, datadir } = prepare(t, packed.subarray(0, packed.length - 1000), { name: 'blocks.rlp.gz' })
  const { code, complaints } = await importing(args)
  assert.deepEqual([code, complaints.length], [1, 1])
  assert.match(complaints[0], /^cairn: .+: at byte \d+ (\(block \d+ of the file\))?: .*(gzip|unexpected end|cut off)/)
  assert.ok(complaints[0].includes(path))
  checkDatabase(datadir)
})

test('a directory is imported with its genesis, and serves as a fixture with gzipped files', async (t) => {
  const directory = temporaryDirectory(t)
  copyFileSync(GENESIS, join(directory, 'genesis.json'))
  const datadir = join(directory, 'data')
  const importDirectory = () => runCairnOk(['import', '--datadir', datadir, directory])
  assert.equal(await importDirectory(), 'genesis stored; the head is block 0\n')
  assert.equal(checkDatabase(datadir)!.number, 0)
  const genesisOnly = await startCairn(t, ['--fixture', directory])
  assert.equal(await resultOf(genesisOnly.url, 'eth_blockNumber'), '0x0')
  const call = { to: `0x${'00'.repeat(19)}04`, data: '0x1234' } // the identity precompile
  assert.equal(await resultOf(genesisOnly.url, 'eth_call', [call, 'latest']), '0x1234')
  await genesisOnly.stop()

  writeFileSync(join(directory, 'chain.rlp.gz'), gzipSync(chain))
  writeFileSync(join(directory, 'l2.ndjson.gz'), gzipSync(readFileSync(packagePath('fixtures/chain/l2.ndjson'))))
  assert.match(
    await importDirectory(),
    new RegExp(`^${HEAD} blocks imported, 0 stored already; 9 layer-2 blocks imported`),
  )
  const { url } = await startCairn(t, ['--fixture', directory])
  assert.equal(await resultOf(url, 'eth_blockNumber'), `0x${HEAD.toString(16)}`)
  assert.ok((await resultOf<number>(url, 'starknet_blockNumber')) > 0)
})

test('a chain that nothing names is asked for before a database is made', async (t) => {
  const datadir = join(temporaryDirectory(t), 'data')
  const { code, complaints } = await importing(['import', '--datadir', datadir, CHAIN])
  assert.equal(code, 2)
  assert.deepEqual(complaints, [
    'cairn: which chain is it? Name it with --genesis FILE, --rollup-config FILE or --network ' +
      'mainnet|sepolia|holesky|hoodi|op-mainnet|base|op-sepolia|base-sepolia|gnosis|chiado',
  ])
  assert.ok(!existsSync(datadir))
})

test('a signal ends a fixture that is being imported, and nothing is left of it', async (t) => {
  const [directory, folder] = [temporaryDirectory(t), temporaryDirectory(t)]
  copyFileSync(GENESIS, join(directory, 'genesis.json'))
  copyFileSync(writeLongFile(t), join(directory, 'chain.rlp.gz'))
  const running = spawnCairn(['serve', '--port', '0', '--fixture', directory], { TMPDIR: folder })
  const database = () => readdirSync(folder).some((name) => existsSync(join(folder, name, 'cairn.db')))
  while (!database() && running.child.exitCode === null) await new Promise(setImmediate)
  running.child.kill('SIGINT')
  assert.equal((await running.ended).code, 130)
  assert.deepEqual(readdirSync(folder), [])
})

/** Bytes of a header from its beginning: list prefix of 3, then each item after its prefix. */
const FIELD = {
  parentHash: 4,
  stateRoot: 4 + 33 * 2 + 21,
  transactionsRoot: 4 + 33 * 3 + 21,
  receiptsRoot: 4 + 33 * 4 + 21,
}

/** The first block's span begins with its own list prefix. */
function corrupt(number: number, field: keyof typeof FIELD): Uint8Array {
  const { start } = spans[number - 1]
  const copy = Uint8Array.from(chain)
  copy[measureRlp(chain, start)!.payload + FIELD[field]] ^= 1
  return copy
}

for (const [field, check] of [
  ['parentHash', 'parent hash'],
  ['stateRoot', 'state root'],
  ['transactionsRoot', 'transactions root'],
  ['receiptsRoot', 'receipts root'],
] as const) {
  test(`a block with a wrong ${check} is refused by name, and nothing of it is stored`, async (t) => {
    const number = 26
    const { datadir, args } = prepare(t, corrupt(number, field))
    const { code, complaints } = await importing(args)
    assert.deepEqual([code, complaints.length], [1, 1])
    const words = new RegExp(
      `^cairn: block ${number} \\(0x[0-9a-f]{64}\\): ${check}: expected 0x[0-9a-f]{64}, the block has 0x[0-9a-f]{64}$`,
    )
    assert.match(complaints[0], words)
    assert.equal(checkDatabase(datadir)!.number, number - 1)
    const straight = prepare(t, blocks(1, number - 1))
    await runCairnOk(straight.args)
    assert.equal(digestDatabase(datadir), digestDatabase(straight.datadir))
  })
}

test('a block with a wrong bloom is refused with the bytes that differ, not with both blooms', async (t) => {
  const number = 26
  const content = Uint8Array.from(chain)
  const { start } = spans[number - 1]
  // Behind the header's six fixed fields there is the prefix of the bloom, three bytes for 256.
  const bloom = measureRlp(content, measureRlp(content, start)!.payload)!.payload + 33 * 5 + 21 + 3
  for (const at of [100, 255]) content[bloom + at] ^= 1
  const { code, complaints } = await importing(prepare(t, content).args)
  assert.equal(code, 1)
  const words =
    /^cairn: block 26 \(0x[0-9a-f]{64}\): logs bloom: expected 0x[0-9a-f]{16} at byte 100 \(2 of 256 bytes differ\), the block has 0x[0-9a-f]{16}$/
  assert.match(complaints[0], words)
})

test('a missing block is refused by name', async (t) => {
  const { datadir, args } = prepare(t, Buffer.concat([blocks(1, 9), blocks(11, 12)]))
  const { code, complaints } = await importing(args)
  assert.equal(code, 1)
  assert.match(complaints[0], /^cairn: block 11 \(0x[0-9a-f]{64}\): number: expected 10, the block has 11$/)
  assert.equal(checkDatabase(datadir)!.number, 9)
})

test('a chain of another genesis is refused at its first block', async (t) => {
  const other = JSON.parse(readFileSync(GENESIS, 'utf8'))
  other.extraData = '0x00'
  const { datadir, args } = prepare(t, chain)
  const genesis = join(datadir, 'other.json')
  writeFileSync(genesis, JSON.stringify(other))
  const { code, complaints } = await importing(args.map((arg) => (arg === GENESIS ? genesis : arg)))
  assert.equal(code, 1)
  assert.match(complaints[0], /^cairn: block 1 \(0x[0-9a-f]{64}\): parent hash: expected 0x/)
  assert.equal(checkDatabase(datadir)!.number, 0)
})

test('a database keeps to its chain', async (t) => {
  const { datadir, args } = prepare(t, blocks(1, 3))
  await runCairnOk(args)
  const other = await importing(['import', '--datadir', datadir, '--network', 'sepolia', CHAIN])
  assert.equal(other.code, 2)
  assert.deepEqual(other.complaints, [
    'cairn: the database was begun with another genesis or network; use another --datadir',
  ])
  const stateless = await importing(['import', '--datadir', datadir, '--state', 'none', CHAIN])
  assert.equal(stateless.code, 2)
  assert.equal(checkDatabase(datadir)!.number, 3)
})

test('a second writer is refused while the first one writes', async (t) => {
  const { datadir, args } = prepare(t, chain)
  const first = openForWriting(datadir)
  const { code, complaints } = await importing(args)
  first.close()
  assert.equal(code, 1)
  assert.match(complaints[0], /is being written by another cairn process/)
  assert.equal((await importing(args)).code, 0)
})

for (const [signal, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  test(`${signal} ends an import after its batch with ${exitCode}, and it resumes later`, async (t) => {
    const { datadir, path } = prepare(t, blocks(1, 20))
    const files = [path, writeLongFile(t), CHAIN]
    const running = spawnCairn(['import', '--datadir', datadir, '--genesis', GENESIS, ...files])
    await running.waitFor('stderr', /Z blocks\.rlp: 20 blocks, head 20\n/)
    running.child.kill(signal)
    const { code, stdout, stderr } = await running.ended
    assert.equal(code, exitCode)
    assert.match(
      stdout,
      /^20 blocks imported, \d+ stored already; interrupted at block 20 in long\.rlp\.gz \(file 2 of 3\): run the same command again to resume\n$/,
    )
    assert.match(stderr, /^stopping after the batch under way; a second signal ends it at once$/m)
    assert.equal(checkDatabase(datadir)!.number, 20)
    const again = await runCairnOk(['import', '--datadir', datadir, CHAIN])
    assert.equal(again, `${HEAD - 20} blocks imported, 20 stored already\n`)
  })
}

test('a server answers from blocks as soon as another process has imported them', async (t) => {
  const { datadir, args } = prepare(t, blocks(1, 20))
  await runCairnOk(args)
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  assert.equal(await resultOf(url, 'eth_blockNumber'), '0x14')
  assert.equal((await resultOf<unknown[]>(url, 'eth_getLogs', [{}])).length, 1)
  await runCairnOk(['import', '--datadir', datadir, CHAIN])
  assert.equal(await resultOf(url, 'eth_blockNumber'), `0x${HEAD.toString(16)}`)
  assert.equal((await resultOf<unknown[]>(url, 'eth_getLogs', [{ fromBlock: '0x3a', toBlock: '0x3c' }])).length, 2100)
  const supply = await resultOf<string>(url, 'eth_call', [{ to: TOKEN, data: '0x18160ddd' }, 'latest'])
  assert.equal(BigInt(supply), 1000n * ETHER)
})

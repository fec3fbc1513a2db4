import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { FixtureManifest } from '../../src/sync/import/recordedFixture.js'
import { runCairn, runCairnOk, serveFixture, startCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import * as fixture from '../support/chains/fixtureChain.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { temporaryDirectory } from '../support/temporary.js'
import { compareFrom } from '../support/upstream/followPeer.js'

/* `cairn record` of a node that has the bundled chain, which is Cairn. */

const node = await serveFixture({ after })
const { withoutRanges, withoutProofs } = await serveWithout()
const GENESIS = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json')]
const DEVELOPMENT = ['--genesis', writeDevelopmentGenesis()]

/** The genesis of the chain as that of a development node, whose roots need not be those of its accounts. */
function writeDevelopmentGenesis(): string {
  const genesis = JSON.parse(readFileSync(join(FIXTURE_FOLDER, 'genesis.json'), 'utf8')) as { config: object }
  const path = join(temporaryDirectory({ after }), 'genesis.json')
  writeFileSync(path, JSON.stringify({ ...genesis, config: { ...genesis.config, development: true } }))
  return path
}

/** URLs of a server of the same chain with keys: one may not list accounts, the other may not prove state either. */
async function serveWithout(): Promise<{ withoutRanges: string; withoutProofs: string }> {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  const createKey = async (name: string, ...refused: string[]) => {
    const methods = ['*', ...refused.map((each) => `!${each}`)].join(',')
    return (await runCairnOk(['keys', 'create', name, '--methods', methods, '--datadir', datadir])).trim()
  }
  const ranges = await createKey('without ranges', 'debug_accountRange')
  const proofs = await createKey('without proofs', 'debug_accountRange', 'eth_getProof', 'debug_executionWitness')
  const { url } = await startCairn({ after }, ['--datadir', datadir])
  return { withoutRanges: `${url}/v3/${ranges}`, withoutProofs: `${url}/v3/${proofs}` }
}

function record(upstream: string, out: string, ...args: string[]) {
  return runCairn(['record', '--upstream', upstream, '--out', out, '--log-level', 'error', ...args])
}

function readManifest(folder: string): FixtureManifest {
  return JSON.parse(readFileSync(join(folder, 'fixture.json'), 'utf8')) as FixtureManifest
}

test('a chain with its genesis file is recorded whole and verified, byte by byte', async (t) => {
  const out = join(temporaryDirectory(t), 'fixture')
  const { code, stdout, stderr } = await record(node.url, out, ...GENESIS)
  assert.equal(code, 0, stderr)
  assert.match(stdout, new RegExp(`: blocks 0 to ${fixture.HEAD} of [Cc]airn/.*, complete state, verified\n$`))
  assert.deepEqual(readdirSync(out).sort(), ['chain.rlp', 'fixture.json', 'genesis.json'])
  assert.deepEqual(readFileSync(join(out, 'chain.rlp')), readFileSync(join(FIXTURE_FOLDER, 'chain.rlp')))
  const { verified, unchecked, blocks, first } = readManifest(out)
  assert.deepEqual([verified, unchecked, blocks, first], [true, [], { from: 0, to: fixture.HEAD }, undefined])
})

test('blocks from the middle are verified where the node lists its accounts', async (t) => {
  const out = join(temporaryDirectory(t), 'fixture')
  const { code, stdout, stderr } = await record(node.url, out, ...GENESIS, '--blocks', '26:40')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /blocks 26 to 40 of .*, complete state, verified\n$/)
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, out])
  await runCairnOk(['verify', '--datadir', datadir])
  const server = await startCairn(t, ['--datadir', datadir, '--open'])
  const loggers = Array.from({ length: 4 }, () => fixture.TOKEN)
  await compareFrom(26, { server, peer: { url: node.url, faults: /^$/ }, datadir, traffic: { loggers } })
})

test('blocks from the middle come with the state that they need, proved, and are verified', async (t) => {
  const out = join(temporaryDirectory(t), 'fixture')
  const from = 26
  const { code, stdout, stderr } = await record(withoutRanges, out, ...GENESIS, '--blocks', `${from}:40`)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /blocks 26 to 40 of .*, proved state, verified\n$/)
  assert.deepEqual(readdirSync(out).sort(), ['chain.rlp', 'fixture.json', 'fixture.state', 'genesis.json'])
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, out])
  // The same command resumes, and finds nothing to do.
  assert.match(await runCairnOk(['import', '--datadir', datadir, out]), /0 blocks imported, 15 stored already/)
  await runCairnOk(['verify', '--datadir', datadir])
  const loggers = Array.from({ length: 4 }, () => fixture.TOKEN)
  // No recorded block reads the total supply, nor some accounts that are asked for.
  const faults = /got error \{"code":-32000,"message":"state of 0x/
  for (const args of [
    ['--datadir', datadir, '--open'],
    ['--fixture', out],
  ]) {
    const server = await startCairn(t, args)
    await compareFrom(from, { server, peer: { url: node.url, faults }, datadir, traffic: { loggers } })
    const { verified } = (await (await fetch(`${server.url}/health`)).json()) as { verified: boolean }
    assert.equal(verified, true)
  }
})

test('of a development node without proofs, blocks come with what they read, marked as not verified', async (t) => {
  const out = join(temporaryDirectory(t), 'fixture')
  const from = 26
  const { code, stdout, stderr } = await record(withoutProofs, out, ...DEVELOPMENT, '--blocks', `${from}:40`)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /blocks 26 to 40 of .*, touched state, not verified \(not compared: state root\)\n$/)
  const datadir = temporaryDirectory(t)
  const imported = await runCairn(['import', '--datadir', datadir, out])
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stderr, /this recording is not verified/)
  assert.match(await runCairnOk(['status', '--datadir', datadir]), /^verified +no: a recording with partial state/m)
  await runCairnOk(['verify', '--datadir', datadir])
  const server = await startCairn(t, ['--datadir', datadir, '--open'])
  const loggers = Array.from({ length: 4 }, () => fixture.TOKEN)
  // No recorded block reads the total supply, so it is not recorded.
  const faults = /^eth_call result: expected "0x0+3635c9adc5dea00000", got "0x0+"$/
  await compareFrom(from, { server, peer: { url: node.url, faults }, datadir, traffic: { loggers } })
  const { verified } = (await (await fetch(`${server.url}/health`)).json()) as { verified: boolean }
  assert.equal(verified, false)
  const other = await runCairn(['import', '--datadir', datadir, FIXTURE_FOLDER])
  assert.match(other.stderr, /the database was begun with another genesis/)
})

test('a fixture is taken as unverified only if its manifest says so', async (t) => {
  const out = join(temporaryDirectory(t), 'fixture')
  assert.equal((await record(withoutProofs, out, ...DEVELOPMENT, '--blocks', '35:36')).code, 0)
  const manifest = readManifest(out)
  writeFileSync(join(out, 'fixture.json'), JSON.stringify({ ...manifest, verified: true }))
  const datadir = temporaryDirectory(t)
  const { code, stderr } = await runCairn(['import', '--datadir', datadir, out])
  assert.equal(code, 1)
  assert.match(stderr, /expected the root of alloc/)
  writeFileSync(join(out, 'fixture.json'), JSON.stringify({ ...manifest, verified: 'no' }))
  const wrong = await runCairn(['import', '--datadir', datadir, out])
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /fixture\.json: verified: expected true or false, got "no"/)
  // A block is still checked against its header and its receipts.
  const broken = { ...manifest, first: { ...manifest.first!, receipts: [] } }
  writeFileSync(join(out, 'fixture.json'), JSON.stringify(broken))
  assert.match(
    (await runCairn(['import', '--datadir', datadir, out])).stderr,
    /^cairn: block 34 .*: gas used: expected 0, the block has/m,
  )
})

test('refuses what cannot be recorded, and leaves nothing', async (t) => {
  const folder = temporaryDirectory(t)
  const out = join(folder, 'fixture')
  const refused = async (pattern: RegExp, code: number, ...args: string[]) => {
    const ended = await record(withoutRanges, out, ...args)
    assert.match(ended.stderr, pattern)
    assert.equal(ended.code, code)
    assert.ok(!existsSync(out))
  }
  await refused(/--blocks: the newest block of http:\S+ is 74, asked for 99/, 2, '--blocks', '1:99')
  await refused(/--blocks: expected A:B, A: or :B, got "a"/, 2, '--blocks', 'a')
  await refused(/block 6 is before Byzantium/, 2, ...GENESIS, '--blocks', '6:8')
  const secret = ['--upstream', 'http://user:hunter2@127.0.0.1:1/v3/0123456789abcdef0123456789abcdef']
  const unreachable = await runCairn(['record', ...secret, '--out', out])
  assert.equal(unreachable.code, 1)
  assert.doesNotMatch(unreachable.stderr, /hunter2|0123456789abcdef/)
  writeFileSync(join(folder, 'there'), '')
  const there = await runCairn(['record', '--upstream', node.url, '--out', folder])
  assert.match(there.stderr, /is there already; remove it, or name another directory/)
  assert.equal((await runCairn(['record', '--upstream', node.url])).code, 2)
  assert.equal((await runCairn(['record', '--out', out])).code, 2)
  assert.deepEqual(readdirSync(folder), ['there'])
})

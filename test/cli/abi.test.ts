import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { toEventHash } from 'viem'
import { type Ended, runCairn, startCairn } from '../support/cairn.js'
import { COUNTER } from '../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../support/chains/fixtureDatabase.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const imported = temporaryDirectory({ after })
before(() => importFixture(imported))

/** Runs `cairn abi` to its end. */
function abi(datadir: string, ...args: string[]): Promise<Ended> {
  return runCairn(['abi', ...args, '--datadir', datadir])
}

const COUNTED = { type: 'event', name: 'Counted', inputs: [{ name: 'count', type: 'uint256', indexed: false }] }

interface DecodedLog {
  decoded: { name: string; args: { name: string; value: unknown }[] } | null
}

function writeAbi(t: TestContext, name: string, content: unknown): string {
  const path = join(temporaryDirectory(t), name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('adds, lists and removes ABIs while a server runs, which decodes by them at once', async (t) => {
  const datadir = copyDatabase(t, imported)
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  const names = async () => {
    const filter = { fromBlock: '0x0', address: COUNTER }
    const logs = await resultOf<DecodedLog[]>(url, 'cairn_getDecodedLogs', [filter])
    return logs.map(({ decoded }) => decoded && `${decoded.name} ${decoded.args[0].name}=${decoded.args[0].value}`)
  }
  assert.deepEqual(new Set(await names()), new Set([null]))
  const array = writeAbi(t, 'Counter.json', [COUNTED, { type: 'constructor' }])
  const artefact = writeAbi(t, 'x.json', {
    contractName: 'Bound',
    abi: [{ ...COUNTED, inputs: [{ name: 'bound', type: 'uint256' }] }],
  })
  const added = await abi(datadir, 'add', array)
  assert.equal(added.stdout, 'ABI 1 (Counter), for any contract: events 1, functions 0, errors 0\n')
  assert.match((await names())[0]!, /^Counted count=\d+$/)
  assert.equal((await abi(datadir, 'add', `${COUNTER}=${artefact}`)).code, 0)
  assert.match((await names())[0]!, /^Counted bound=\d+$/)
  const listed = await abi(datadir, 'list')
  assert.match(listed.stdout, /^1 {3}Counter {2}any .*\n2 {3}Bound {4}0x\w{40} {2}1 /m)
  assert.equal((await abi(datadir, 'remove', 'Bound')).code, 0)
  assert.match((await names())[0]!, /^Counted count=\d+$/)
  await abi(datadir, 'add', array)
  assert.deepEqual(
    JSON.parse((await abi(datadir, 'list', '--json')).stdout).map(({ id, name }: { id: number; name: string }) => [
      id,
      name,
    ]),
    [[3, 'Counter']],
  )
})

test('says what is wrong with an ABI and what would work', async (t) => {
  const datadir = copyDatabase(t, imported)
  const event = (inputs: unknown) => [{ type: 'event', name: 'E', inputs }]
  const cases: [args: string[], message: RegExp][] = [
    [[], /expected 'add FILE\|ADDRESS=FILE', 'list' or 'remove ID\|NAME'/],
    [['ad'], /got 'ad' \(did you mean add\?\)/],
    [['add'], /abi add: expected FILE or ADDRESS=FILE/],
    [['add', '/nowhere.json'], /cannot read \/nowhere\.json: ENOENT/],
    [
      ['add', `0x12=${writeAbi(t, 'a.json', [COUNTED])}`],
      /expected an address, 0x and 40 hex digits, before '=', got 0x12/,
    ],
    [['add', writeAbi(t, 'a.json', 'nonsense')], /expected a JSON ABI: /],
    [['add', writeAbi(t, 'a.json', { abi: 7 })], /abi: expected a JSON ABI: an array/],
    [['add', writeAbi(t, 'a.json', [])], /expected an ABI with an event, a function or an error, found none/],
    [
      ['add', writeAbi(t, 'a.json', event([{ name: 'a', type: 'uint257' }]))],
      /abi\[0\]\.inputs\[0\]\.type: expected uint8 to uint256, .* got uint257/,
    ],
    [
      ['add', writeAbi(t, 'a.json', event([{ name: 'a', type: 'tuple' }]))],
      /abi\[0\]\.inputs\[0\]\.components: expected an array/,
    ],
    [
      ['add', writeAbi(t, 'a.json', event([{ name: 'a"; DROP', type: 'bool' }]))],
      /inputs\[0\]\.name: expected a Solidity identifier/,
    ],
    [
      ['add', writeAbi(t, 'a.json', event(Array(4).fill({ name: '', type: 'bool', indexed: true })))],
      /at most 3 indexed/,
    ],
    [['add', writeAbi(t, 'a.json', event([{ name: 'a', type: `uint8${'[]'.repeat(17)}` }]))], /at most 16 levels/],
    [['add', writeAbi(t, 'a.json', event([{ name: 'a', type: 'uint8[9999999]' }]))], /static size of at most/],
    [['remove', 'x'], /no ABI with id or name 'x'; see 'cairn abi list'/],
    [['list', 'x'], /unexpected operand 'x'/],
  ]
  const outcomes = await Promise.all(cases.map(([args]) => abi(datadir, ...args)))
  for (const [i, [args, message]] of cases.entries()) {
    assert.equal(outcomes[i].code, 2, args.join(' '))
    assert.match(outcomes[i].stderr, message)
  }
  assert.match((await abi(join(datadir, 'none'), 'list')).stderr, /no database at/)
})

test('adds signatures while a server runs, which guesses by them until an ABI names the event', async (t) => {
  const datadir = copyDatabase(t, imported)
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  const first = async () => {
    const filter = { fromBlock: '0x0', address: COUNTER }
    const [log] = await resultOf<{ decoded: { name: string; isGuess?: boolean; args: { name: string }[] } | null }[]>(
      url,
      'cairn_getDecodedLogs',
      [filter],
    )
    const { decoded } = log
    return decoded && [decoded.name, decoded.isGuess, decoded.args.map(({ name }) => name)]
  }
  assert.equal(await first(), null)
  const lines = [
    `${toEventHash('Counted(uint256)')} Counted(uint256)`,
    '0xa9059cbb transfer(address,uint256)',
    '0xffffffff f()',
  ]
  const file = writeAbi(t, 'dump.txt', lines.join('\n'))
  const added = await abi(datadir, 'add', '--signatures', file)
  assert.equal(
    added.stdout,
    'signatures s1 (dump): functions 1, events 1; duplicates 0; refused: wrong hash 1, not canonical 0, malformed 0, too many of one selector 0\n',
  )
  assert.deepEqual(await first(), ['Counted', true, ['']])
  assert.match((await abi(datadir, 'list')).stdout, /^s1 +dump +guesses +1 +1 +0 /m)
  await abi(datadir, 'add', writeAbi(t, 'Counter.json', [COUNTED]))
  assert.deepEqual(await first(), ['Counted', undefined, ['count']])
  await abi(datadir, 'remove', 'Counter')
  assert.equal((await abi(datadir, 'remove', 's1')).stdout, 'signatures s1 (dump) are removed\n')
  assert.equal(await first(), null)
  const wrong = await abi(datadir, 'add', '--signatures', writeAbi(t, 'a.txt', 'nonsense'))
  assert.deepEqual([wrong.code, /found no signature \(1 entries malformed/.test(wrong.stderr)], [2, true])
})

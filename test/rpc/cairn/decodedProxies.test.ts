import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { encodeFunctionData, keccak256, parseAbi, stringToBytes, toEventHash, toFunctionSelector } from 'viem'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { createQueryRunner } from '../../../src/sql/queryRunner.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { runCairnOk } from '../../support/cairn.js'
import { createStateGenesis } from '../../support/chains/stateChain.js'
import { callMethod } from '../../support/compare/traces.js'
import { GATE_CODE, GATE_METADATA } from '../../support/solidity/gate.js'
import { temporaryDirectory } from '../../support/temporary.js'

const [PROXY, FIRST, SECOND] = ['a1', 'b2', 'c3'].map((digits) => `0x${digits.repeat(20)}`)
const SLOT = `0x${(BigInt(keccak256(stringToBytes('eip1967.proxy.implementation'))) - 1n).toString(16)}`

// With input of one word: makes it the implementation. With any other: delegates to the implementation.
const PROXY_CODE = assemble(`
  32 calldatasize eq @upgrade jumpi
  calldatasize 0 0 calldatacopy
  0 0 calldatasize 0 ${SLOT} sload gas delegatecall
  returndatasize 0 0 returndatacopy
  @passed jumpi returndatasize 0 revert
  :passed returndatasize 0 return
  :upgrade 0 calldataload ${SLOT} sstore stop`)

const wordOf = (address: string) => `0x${address.slice(2).padStart(64, '0')}`
const GATE = parseAbi(['function open()', 'function fail(uint8)'])
const FAIL = parseHex(encodeFunctionData({ abi: GATE, functionName: 'fail', args: [7] }))

interface Decoded {
  name: string | null
  isGuess?: boolean
  args: { name: string; value: unknown }[]
}

/** A chain whose proxy is called, fails, is upgraded and is called again: a block for each. */
async function writeChain(datadir: string): Promise<void> {
  const sender = createSender('proxies')
  const genesis = createStateGenesis(sender) as { alloc: { [address: string]: object } }
  const account = (code: string, storage = {}) => ({ balance: '0x0', nonce: '0x1', code, storage })
  Object.assign(genesis.alloc, {
    [FIRST]: account(GATE_CODE),
    [SECOND]: account(GATE_CODE),
    [PROXY]: account(formatData(PROXY_CODE), { [SLOT]: wordOf(FIRST) }),
  })
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis)
  const open = parseHex(toFunctionSelector('open()'))
  for (const input of [open, FAIL, parseHex(wordOf(SECOND)), open]) {
    await builder.add({ transactions: [{ sender, to: parseHex(PROXY), input, gasLimit: 200_000n }] })
  }
  db.close()
}

test('a proxy is decoded by guesses, then by the ABI of its implementation at each block', async (t) => {
  const datadir = temporaryDirectory(t)
  await writeChain(datadir)
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(close)
  const runner = createQueryRunner({ datadir, memoryBytes: 600 * 2 ** 20 })
  t.after(runner.close)
  const logNames = async () => {
    const logs = await callMethod<{ decoded: Decoded | null }[]>(context, 'cairn_getDecodedLogs', [
      { fromBlock: '0x0', address: PROXY },
    ])
    return logs.map(({ decoded }) => decoded && [decoded.name, decoded.args[0].name, decoded.isGuess])
  }
  const [{ hash }] = context.chain.transactions(context.chain.blockByNumber(2)!)
  const failed = async () => {
    const { function: input, failure } = await callMethod<{ function: Decoded | null; failure: { reason: string } }>(
      context,
      'cairn_getDecodedTransaction',
      [formatData(hash)],
    )
    const sql = `SELECT cairn_revert_reason(transaction_hash) FROM v_receipts WHERE status = 0`
    const rows: unknown[] = []
    for await (const { values } of runner.run({ sql, format: 'values' })) rows.push(...values.flat())
    assert.deepEqual(rows, [failure.reason])
    return [input && [input.name, input.args[0]?.name, input.isGuess], failure.reason]
  }
  assert.deepEqual(await logNames(), [null, null])
  assert.deepEqual(await failed(), [null, 'execution reverted'])

  const signatures = ['fail(uint8)', 'Closed(uint8)', 'Opened(address)'].map((text, i) => {
    return `${i === 2 ? toEventHash(text) : toFunctionSelector(text)} ${text}`
  })
  const dump = join(datadir, 'dump.txt')
  writeFileSync(dump, signatures.join('\n'))
  await runCairnOk(['abi', 'add', '--signatures', dump, '--datadir', datadir])
  assert.deepEqual(await logNames(), Array(2).fill(['Opened', '', true]))
  assert.deepEqual(await failed(), [['fail', '', true], 'Closed(7) (guess)'])

  const bundle = join(datadir, 'bundle')
  mkdirSync(bundle)
  writeFileSync(join(bundle, 'metadata.json'), GATE_METADATA)
  const added = await runCairnOk(['abi', 'add', '--sourcify', `${FIRST}=${bundle}`, '--datadir', datadir])
  assert.match(added, /matched by metadata hash 1/)
  assert.deepEqual(await logNames(), [
    ['Opened', 'by', undefined],
    ['Opened', '', true],
  ])
  assert.deepEqual(await failed(), [['fail', 'code', undefined], 'Closed(code: 7)'])

  const other = join(datadir, 'Other.json')
  writeFileSync(other, JSON.stringify(parseAbi(['event Opened(address indexed opener)'])))
  await runCairnOk(['abi', 'add', `${SECOND}=${other}`, '--datadir', datadir])
  assert.deepEqual(await logNames(), [
    ['Opened', 'by', undefined],
    ['Opened', 'opener', undefined],
  ])
  const frame = await callMethod<{ function: Decoded; calls: { function: Decoded }[] }>(
    context,
    'cairn_getDecodedCalls',
    [formatData(hash)],
  )
  assert.deepEqual(
    [frame.function, frame.calls[0].function].map(({ name, args }) => [name, args[0].name]),
    Array(2).fill(['fail', 'code']),
  )
})

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { chooseDatasets } from '../../src/export/datasets.js'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { importChainFolder } from '../support/chains/chainFolder.js'
import { readNdjson, type TextRow } from '../support/chains/exportedFiles.js'
import { type TokenChain, writeTokenChain } from '../support/chains/tokenChain.js'
import { wide } from '../support/compare/exportOracle.js'
import { endOfFile } from '../support/endings.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Datasets that call contracts, compared with calls of a server of the same database. */

const ending = endOfFile()
const datadir = temporaryDirectory(ending)
let chain: TokenChain
let url: string

before(async () => {
  chain = await writeTokenChain(ending)
  await importChainFolder(datadir, chain.folder)
  const server = await startCairn(ending, ['--datadir', datadir, '--open'])
  url = server.url
})

const TOKENS = ['plain', 'bytes32', 'reverting', 'fee', 'proxied', 'nft', 'multi'] as const
const tokens = () => TOKENS.map((name) => chain.tokens[name])

async function exported(dataset: string, ...options: string[]): Promise<TextRow[]> {
  const rows = readNdjson(
    await runCairnOk(['export', dataset, '--datadir', datadir, '--format', 'ndjson', '--out', '-', ...options]),
  )
  for (const row of rows) {
    assert.deepEqual(
      Object.keys(row),
      chooseDatasets([dataset.replaceAll('_', '-')])[0].columns.map(({ name }) => name),
    )
  }
  return rows.map(({ chain_id, block_timestamp, ...rest }) => rest)
}

/** The result of a function of a token after a block; null if the call fails or its output is not of that type. */
async function callToken(
  to: Hex,
  functionName: 'name' | 'symbol' | 'decimals' | 'totalSupply' | 'balanceOf',
  { block, args = [] }: { block: number; args?: readonly Hex[] },
): Promise<string | null> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName, args: args as [Hex] })
  const { result } = await ask(url, 'eth_call', [{ to, data }, `0x${block.toString(16)}`])
  if (typeof result !== 'string') return null
  try {
    return String(decodeFunctionResult({ abi: erc20Abi, functionName, data: result as Hex }))
  } catch {
    const text = Buffer.from(result.slice(2), 'hex').toString().replace(/\0+$/, '')
    return result.length === 66 && /^(name|symbol)$/.test(functionName) ? text : null
  }
}

test('erc20-metadata, erc721-metadata and erc20-supplies are what contracts answer after each block', async () => {
  const { head } = chain
  const blocks = [head - 1, head]
  const expected: { [dataset: string]: TextRow[] } = {
    'erc20-metadata': [],
    'erc721-metadata': [],
    'erc20-supplies': [],
  }
  for (const block of blocks) {
    for (const token of tokens()) {
      const read = (name: Parameters<typeof callToken>[1]) => callToken(token, name, { block })
      const place = { block_number: String(block) }
      const texts = { name: await read('name'), symbol: await read('symbol') }
      expected['erc20-metadata'].push({ ...place, erc20: token, ...texts, decimals: await read('decimals') })
      expected['erc721-metadata'].push({ ...place, erc721: token, ...texts })
      const supply = await read('totalSupply')
      const none = { total_supply_binary: null, total_supply_string: null, total_supply_f64: null }
      const cells = supply === null ? none : wide('total_supply', supply)
      expected['erc20-supplies'].push({ ...place, erc20: token, ...cells })
    }
  }
  const options = tokens().flatMap((token) => ['--contract', token])
  for (const [dataset, rows] of Object.entries(expected)) {
    assert.ok(rows.some((row) => Object.values(row).includes(null)))
    assert.deepEqual(await exported(dataset, ...options, '--blocks', `${head - 1}:`), rows, dataset)
    // cryo takes either option, and the newest block by default.
    const newest = rows.slice(-TOKENS.length)
    assert.deepEqual(await exported(dataset.replaceAll('-', '_'), '--address', tokens().join(',')), newest, dataset)
  }
})

test('erc20-balances has each account in each contract', async () => {
  const { head, accounts } = chain
  const rows: TextRow[] = []
  for (const block of [head - 1, head]) {
    for (const token of tokens()) {
      for (const address of accounts) {
        const balance = await callToken(token, 'balanceOf', { block, args: [address] })
        const none = { balance_binary: null, balance_string: null, balance_f64: null }
        const cells = balance === null ? none : wide('balance', balance)
        rows.push({ block_number: String(block), erc20: token, address, ...cells })
      }
    }
  }
  const options = ['--contract', tokens().join(','), '--address', accounts.join(','), '--blocks', `${head - 1}:${head}`]
  assert.deepEqual(await exported('erc20-balances', ...options), rows)
})

test('trace-calls has the calls of a call', async () => {
  const [holder] = chain.accounts
  const contract = chain.tokens.proxied
  const datas = [
    encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] }),
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [holder, 10n ** 30n] }),
  ]
  const rows: TextRow[] = []
  for (const data of datas) {
    const params = [{ to: contract, data }, ['trace'], `0x${chain.head.toString(16)}`]
    type Trace = { error?: string; type: string; subtraces: number; traceAddress: number[] } & {
      [part in 'action' | 'result']: { [member: string]: string | undefined }
    }
    const { trace } = await resultOf<{ trace: Trace[] }>(url, 'trace_call', params)
    assert.ok(trace.length > 1)
    for (const [index, { action, result, error, type, subtraces, traceAddress }] of trace.entries()) {
      rows.push({
        block_number: String(chain.head),
        transaction_index: String(index),
        action_from: action.from!,
        action_to: action.to!,
        action_value: String(BigInt(action.value!)),
        action_gas: String(Number(action.gas)),
        action_input: action.input!,
        action_call_type: action.callType!.replace('call', '_call').replace(/^_/, ''),
        action_init: null,
        action_reward_type: null,
        action_type: type,
        result_gas_used: String(Number(result.gasUsed)),
        result_output: result.output!,
        result_code: null,
        result_address: null,
        trace_address: traceAddress.join('_'),
        subtraces: String(subtraces),
        error: error ?? null,
        tx_to_address: contract,
        tx_call_data: data,
      })
    }
  }
  assert.ok(rows.some(({ error }) => error !== null))
  const options = ['--contract', contract, ...datas.flatMap((data) => ['--call-data', data])]
  assert.deepEqual(await exported('trace-calls', ...options), rows)
})

test('datasets of calls say which option is missing, and are not part of all', async () => {
  const { tokens: all } = chain
  for (const [operands, message] of [
    [['erc20-supplies'], /erc20-supplies: name the tokens with --contract/],
    [['erc20-balances', '--contract', all.plain], /erc20-balances: name the accounts with --address/],
    [['erc20-balances', '--address', all.plain], /erc20-balances: name the contracts with --contract/],
    [['trace-calls', '--contract', all.plain], /trace-calls: --call-data is missing/],
    [['trace-calls', '--contract', all.plain, '--call-data', '0x1'], /--call-data: expected bytes/],
    [['logs', '--contract', all.plain], /logs: --contract does not apply/],
    [['erc20-supplies', '--contract', all.plain, '--call-data', '0x'], /--call-data does not apply/],
  ] as const) {
    const { code, stderr } = await runCairn(['export', ...operands, '--datadir', datadir, '--out', '-'])
    assert.equal(code, 2, stderr)
    assert.match(stderr, message)
  }
  const ofAll = chooseDatasets(['all']).map(({ name }) => name)
  assert.ok(ofAll.includes('logs') && !ofAll.includes('vm-traces') && !ofAll.includes('erc20-balances'))
})

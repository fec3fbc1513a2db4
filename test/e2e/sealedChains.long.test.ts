import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { decodeBlock, encodeBlock } from '../../src/chain/eth/block.js'
import { signerOf } from '../../src/chain/eth/families/clique/signers.js'
import { familyOf } from '../../src/chain/eth/families/families.js'
import { parseGenesisSpec } from '../../src/chain/eth/genesis.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { runCairn, runCairnOk, spawnCairn, startCairn } from '../support/cairn.js'
import {
  readSealedChain,
  SEALED_CHAINS,
  type SealedBlock,
  type SealedChainName,
} from '../support/chains/sealed/sealedChains.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { untilBlockNumber } from '../support/until.js'

/* The program executes chains of Besu, GoQuorum and clique from block 0: state roots, receipts, balances and traces are
 * those of the peer. */

const FEW_THREADS = { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' }
const quantity = (number: number) => `0x${number.toString(16)}`
/** Init code that returns what COINBASE returns. */
const COINBASE_CODE = '0x4160005260206000f3'
const FIXED_BENEFICIARY = '0x00000000000000000000000000000000000c0ffe'

interface Header {
  readonly number: string
  readonly hash: string
  readonly miner: string
}

/** What COINBASE returns in a block of a chain. */
function beneficiaryOf(name: SealedChainName, { raw }: SealedBlock, number: number, genesis: object): string {
  const { header } = decodeBlock(parseHex(raw), undefined, familyOf(parseGenesisSpec(genesis)))
  if (name === 'clique') return formatData(signerOf(header))
  const isFixed = name === 'besuQbft' ? number >= 4 && number < 9 : name === 'besuIbft2' && number >= 14
  return isFixed ? FIXED_BENEFICIARY : formatData(header.miner)
}

function writeChain(folder: string, genesis: object, blocks: readonly { readonly raw: string }[]): string[] {
  const [genesisFile, chainFile] = [join(folder, 'genesis.json'), join(folder, 'chain.rlp')]
  writeFileSync(genesisFile, JSON.stringify(genesis))
  writeFileSync(chainFile, Buffer.concat(blocks.map(({ raw }) => parseHex(raw))))
  return ['import', '--datadir', join(folder, 'data'), '--genesis', genesisFile, '--root-interval', '1', chainFile]
}

for (const name of SEALED_CHAINS) {
  describe(`the chain of ${name}`, () => {
    const { genesis, hash, blocks } = readSealedChain(name)

    it('is executed as by the peer, and followed', async (t) => {
      const folder = temporaryDirectory(t)
      const args = [...writeChain(folder, genesis, blocks), '--traces', 'on']
      assert.match(await runCairnOk(args), new RegExp(`${blocks.length} blocks imported`))
      const datadir = join(folder, 'data')
      const { url, stop } = await startCairn(t, ['--datadir', datadir, '--open'])
      assert.equal((await resultOf<Header>(url, 'eth_getBlockByNumber', ['0x0', false])).hash, hash)
      for (const [index, block] of blocks.entries()) await checkBlock(url, index + 1, block)
      if (name === 'besuIbft2' || name === 'clique') await follow(t, url)
      await stop()
      await runCairnOk(['verify', '--datadir', datadir])
    })

    async function checkBlock(url: string, number: number, block: SealedBlock): Promise<void> {
      const id = quantity(number)
      const at = `block ${number}`
      assert.equal((await resultOf<Header>(url, 'eth_getBlockByNumber', [id, false])).hash, block.hash, at)
      const receipts = await resultOf<SealedBlock['receipts']>(url, 'eth_getBlockReceipts', [id])
      for (const [i, { logs, ...expected }] of block.receipts.entries()) {
        const own: Record<string, unknown> = { ...receipts[i] }
        for (const [member, value] of Object.entries(expected))
          assert.equal(own[member], value, `${at}, ${i}: ${member}`)
        assert.equal((own.logs as object[]).length, logs, at)
      }
      for (const [address, balance] of Object.entries(block.balances)) {
        assert.equal(await resultOf(url, 'eth_getBalance', [address, id]), balance, `${address} after ${number}`)
      }
      if (number % 6 === 0) {
        const returned = await resultOf<string>(url, 'eth_call', [{ data: COINBASE_CODE }, id])
        assert.equal(`0x${returned.slice(26)}`, beneficiaryOf(name, block, number, genesis), `COINBASE in ${number}`)
      }
      if (block.traces && block.traces.length > 0) await checkTraces(url, number, block.traces)
    }

    async function checkTraces(url: string, number: number, traces: NonNullable<SealedBlock['traces']>) {
      const traced = await resultOf<{ result: Record<string, string> }[]>(url, 'debug_traceBlockByNumber', [
        quantity(number),
        { tracer: 'callTracer' },
      ])
      for (const [i, { gasUsed: _, output, error, to, ...expected }] of traces.entries()) {
        const { result } = traced[i]
        for (const [member, value] of Object.entries(expected))
          assert.equal(result[member], value, `trace of ${number}`)
        assert.equal(result.error === undefined, error === undefined)
        if (error === undefined) assert.equal(result.to, to, `trace of ${number}`)
        if (error === undefined && output !== '0x') assert.equal(result.output.slice(0, 66), output)
      }
    }

    /** Follows the served chain without state, is killed, and continues. */
    async function follow(t: TestContext, upstream: string) {
      const folder = temporaryDirectory(t)
      const file = join(folder, 'genesis.json')
      writeFileSync(file, JSON.stringify(genesis))
      const args = ['--datadir', join(folder, 'data'), '--open', '--genesis', file, '--state', 'none']
      const killed = spawnCairn(['serve', ...args, '--port', '0', '--upstream', upstream], FEW_THREADS)
      await killed.waitFor('stdout', /ready/)
      killed.child.kill('SIGKILL')
      await killed.ended
      const served = await startCairn(t, [...args, '--upstream', upstream])
      await untilBlockNumber(served, blocks.length)
      const { number } = await resultOf<Header>(served.url, 'eth_getBlockByNumber', ['finalized', false])
      if (name === 'besuIbft2') assert.equal(Number(number), blocks.length)
      await served.stop()
    }

    it('is refused with a forged seal, which is named', async (t) => {
      const number = 11
      const spec = parseGenesisSpec(genesis)
      const block = decodeBlock(parseHex(blocks[number - 1].raw), undefined, familyOf(spec))
      const extraData = Uint8Array.from(block.header.extraData)
      extraData[extraData.length - 10] ^= 1
      const raw = formatData(encodeBlock({ ...block, header: { ...block.header, extraData } }))
      const { code, stderr } = await runCairn(
        writeChain(temporaryDirectory(t), genesis, [...blocks.slice(0, number - 1), { raw }]),
      )
      assert.notEqual(code, 0)
      assert.match(stderr, new RegExp(`block ${number} \\(0x[0-9a-f]+\\): (seals|seal|signer): expected`))
    })
  })
}

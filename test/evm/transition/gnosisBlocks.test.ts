import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { InvalidTransaction } from '../../../src/evm/errors.js'
import { SystemCallFailed } from '../../../src/evm/transition/system.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { order, REWARD_CODE, REWARD_CONTRACT } from '../../../tools/gnosisChain/contracts.js'
import { temporaryDirectory } from '../../support/temporary.js'

const TIME = 1000
const sender = () => createSender('gnosis')
const word = (value: number) => parseHex(`0x${value.toString(16).padStart(64, '0')}`)

/** A chain in memory's stead, with that code at the contract of rewards. */
async function openChain(t: TestContext, code: Uint8Array, config: object = {}) {
  const db = openForWriting(join(temporaryDirectory(t), 'data'))
  t.after(() => db.close())
  const genesis = {
    config: {
      ...{ chainId: 20_261, londonBlock: 0, shanghaiTime: 0, terminalTotalDifficulty: 0, ...config },
      aura: { eip1559FeeCollector: `0x${'fe'.repeat(20)}`, blockRewardContractAddress: formatData(REWARD_CONTRACT) },
    },
    ...{ timestamp: TIME, gasLimit: '0x1c9c380', difficulty: '0x20000' },
    alloc: {
      [formatData(sender().address)]: { balance: '0xd3c21bcecceda1000000' },
      [formatData(REWARD_CONTRACT)]: { balance: '0x0', code: formatData(code) },
    },
  }
  return { builder: await createChainBuilder(db, genesis), state: createStateReads(db) }
}

describe('blocks of Gnosis', () => {
  it('are refused when the contract of rewards fails, and when a balance overflows', async (t) => {
    const { builder } = await openChain(t, REWARD_CODE)
    const from = sender()
    const call = async (input: Uint8Array) => {
      from.nonce = 0n
      await builder.add({ transactions: [{ sender: from, to: REWARD_CONTRACT, input }] })
    }
    const refused = (input: Uint8Array, message: RegExp) =>
      assert.rejects(call(input), (error) => error instanceof SystemCallFailed && message.test(error.message))
    await refused(word(1), /^block rewards, contract 0x0{34}0c0de1: execution reverted$/)
    await refused(order(from.address, 2n ** 256n - 1n), /: a balance above 2\^256 - 1: 0x/)
    await call(order(from.address, 10n ** 18n))
  })

  it('are refused when the contract of rewards returns no lists', async (t) => {
    const outputs = {
      '60205ff3': /accounts: expected a length at byte 0 of 32|amounts: expected an offset at byte 32 of 32/,
      '60405f52608060205260ff604052 60a05ff3': /accounts: expected 255 words from byte 96 of 160 on/,
      '60405f52608060205260016040526080 5ff3': /amounts: expected a length at byte 128 of 128/,
      '60405f52608060205260016040526003 608052 60e05ff3': /amounts: expected 3 words from byte 160 of 224 on/,
      '60405f52608060205260016040526001 608052 60c05ff3': undefined,
      '00': undefined,
    }
    for (const [code, message] of Object.entries(outputs)) {
      const { builder } = await openChain(t, parseHex(`0x${code.replace(/ /g, '')}`))
      if (message === undefined) await builder.add()
      else await assert.rejects(builder.add(), message, code)
    }
  })

  it('set the code of an account in the first block of a fork, which cannot send transactions from then on', async (t) => {
    const from = sender()
    const account = formatData(from.address)
    const { builder, state } = await openChain(t, Uint8Array.of(0), {
      balancerHardforkTime: TIME + 15,
      balancerHardforkBytecodes: { [account]: '0x60016000f3' },
    })
    const codeAfter = (number: number) => formatData(state.code(from.address, number))
    const to = REWARD_CONTRACT
    await builder.add({ transactions: [{ sender: from, to }] })
    assert.equal(codeAfter(1), '0x')
    await builder.add({ afterSeconds: 7 })
    await assert.rejects(builder.add({ transactions: [{ sender: from, to }] }), (error) => {
      return error instanceof InvalidTransaction && /sender.*code|code/.test(error.message)
    })
    await builder.add()
    assert.deepEqual([2, 3].map(codeAfter), ['0x60016000f3', '0x60016000f3'])
    assert.equal(state.nonce(from.address, 3), 1n)
  })
})

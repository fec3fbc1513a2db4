import {
  ABSENT_ACCOUNT,
  ALICE,
  AMSTERDAM_PROBE,
  BOB,
  CAROL,
  COUNTER,
  DELEGATOR,
  EMITTER,
  FACTORY,
  FORWARDER,
  HEAD,
  NEWCOMER,
  PROBE,
  REVERTER,
  STORE,
  TOKEN,
} from '../../test/support/chains/fixtureChain.js'
import { type CasesByMethod, type FixtureHashes, largeCases, positional, quantity, UNKNOWN_HASH, word } from './case.js'

/** Selectors of the fixture's contracts, keccak-256 of the signature. */
const SELECTOR = {
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  decimals: '0x313ce567',
  totalSupply: '0x18160ddd',
  balanceOf: '0x70a08231',
  transfer: '0xa9059cbb',
  failString: '0xf8f50b81',
  failPanic: '0xc66c9028',
  failCustom: '0x8791bd33',
  failEmpty: '0xbdd4ad32',
  failInvalid: '0x0cf6c214',
  spin: '0xf0acd7d5',
}

/** Call data: a selector and words. */
function encode(selector: string, ...words: (number | bigint | string)[]): string {
  return selector + words.map((value) => word(value).slice(2)).join('')
}

/** Init code that returns the slot number (EIP-7843): SLOTNUM, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN. */
const SLOTNUM = '0x4b60005260206000f3'
/** Init code that returns the gas of a cold BALANCE and 7 more (EIP-8038). */
const BALANCE_GAS = '0x5a61c01d31505a900360005260206000f3'
/** Init code that pushes 1 to 17 and returns what DUPN finds 17 deep (EIP-8024). */
const DUPN = `0x${Array.from({ length: 17 }, (_, i) => `60${(i + 1).toString(16).padStart(2, '0')}`).join('')}e68060005260206000f3`
/** Init code for `size` bytes of code: PUSH3 size, PUSH1 0, RETURN. */
const codeOf = (size: number) => `0x62${size.toString(16).padStart(6, '0')}6000f3`

/** Cases of the methods that run contracts. */
export function callCases(hashes: FixtureHashes): CasesByMethod {
  const at = quantity
  const bobsBalance = { to: TOKEN, data: encode(SELECTOR.balanceOf, BOB) }
  const transfer = (from: string, amount: bigint) => ({
    from,
    to: TOKEN,
    data: encode(SELECTOR.transfer, CAROL, amount),
  })
  const failing = (selector: string) => ({ from: CAROL, to: REVERTER, data: selector })
  return {
    eth_call: {
      ...largeCases((large) => positional(bobsBalance, large)),
      'eip1898-large': positional(bobsBalance, { blockNumber: '0xffffffffffffffff' }),

      name: positional({ to: TOKEN, data: SELECTOR.name }, 'latest'),
      symbol: positional({ to: TOKEN, input: SELECTOR.symbol }, 'latest'),
      'balance-latest': positional(bobsBalance, 'latest'),
      'balance-default-block': positional(bobsBalance),
      'balance-before-transfer': positional(bobsBalance, at(21)),
      'balance-after-transfer': positional(bobsBalance, at(22)),
      'balance-by-hash': positional(bobsBalance, hashes.block(22)),
      'balance-eip1898': positional(bobsBalance, { blockHash: hashes.block(22) }),
      'balance-pending': positional(bobsBalance, 'pending'),
      'overrides-empty': positional(bobsBalance, 'latest', {}),
      'overrides-null': positional(bobsBalance, 'latest', null),
      'overrides-not-empty': positional(bobsBalance, 'latest', { [TOKEN]: { balance: '0x1' } }),
      'overrides-not-an-object': positional(bobsBalance, 'latest', 'none'),
      'overrides-slots': positional({ to: COUNTER }, 'latest', {
        [COUNTER]: { state: {}, code: '0x5f545f5260205ff3' },
      }),
      'overrides-code': positional(
        { to: ABSENT_ACCOUNT },
        'latest',
        { [ABSENT_ACCOUNT]: { code: '0x435f5260205ff3' } },
        { number: '0x539' },
      ),
      'overrides-precompile': positional({ to: ABSENT_ACCOUNT, data: '0x1234' }, 'latest', {
        '0x0000000000000000000000000000000000000004': { movePrecompileToAddress: ABSENT_ACCOUNT },
      }),
      'too-many': positional(bobsBalance, 'latest', {}, {}, {}),
      'before-deployment': positional(bobsBalance, at(14)),
      'delegated-code': positional({ to: DELEGATOR, data: SELECTOR.decimals }, at(45)),
      'delegation-taken-back': positional({ to: DELEGATOR, data: SELECTOR.decimals }, at(46)),
      'plain-transfer': positional({ from: ALICE, to: BOB, value: '0x1' }, 'latest'),
      'frontier-counter': positional({ to: COUNTER }, at(5)),
      'creation-returns-code': positional({ from: ALICE, data: '0x600160005260206000f3' }, 'latest'),
      'create2-address': positional({ to: FACTORY, data: word(11) }, 'latest'),
      'identity-precompile': positional({ to: `0x${'4'.padStart(40, '0')}`, data: '0x636169726e' }, 'latest'),
      'sha256-precompile': positional({ to: `0x${'2'.padStart(40, '0')}`, data: '0x' }, 'latest'),
      'cancun-opcodes': positional({ to: PROBE }, 'latest'),
      'slot-number-in-osaka': positional({ data: SLOTNUM }, at(60)),
      'slot-number-in-amsterdam': positional({ data: SLOTNUM }, at(61)),
      'dupn-in-osaka': positional({ data: DUPN }, at(60)),
      'dupn-in-amsterdam': positional({ data: DUPN }, at(61)),
      'cold-balance-in-osaka': positional({ data: BALANCE_GAS }, at(60)),
      'cold-balance-in-amsterdam': positional({ data: BALANCE_GAS }, at(61)),
      'code-of-24577-bytes-in-osaka': positional({ data: codeOf(24_577) }, at(60)),
      'code-of-65537-bytes-in-amsterdam': positional({ data: codeOf(65_537) }, at(61)),
      'amsterdam-probe': positional({ to: AMSTERDAM_PROBE }, 'latest'),
      'gas-below-intrinsic-in-amsterdam': positional({ to: BOB, gas: at(14_999) }, 'latest'),
      'gas-below-floor-in-amsterdam': positional({ to: BOB, data: `0x${'00'.repeat(100)}`, gas: at(21_399) }, 'latest'),
      'revert-string': positional(failing(SELECTOR.failString), 'latest'),
      'revert-panic': positional(failing(SELECTOR.failPanic), 'latest'),
      'revert-custom': positional(failing(SELECTOR.failCustom), 'latest'),
      'revert-empty': positional(failing(SELECTOR.failEmpty), 'latest'),
      'revert-insufficient': positional(transfer(ABSENT_ACCOUNT, 1n), 'latest'),
      'invalid-opcode': positional(failing(SELECTOR.failInvalid), 'latest'),
      'out-of-gas': positional({ ...bobsBalance, gas: at(17_400) }, 'latest'),
      'gas-below-intrinsic': positional({ to: TOKEN, data: SELECTOR.name, gas: '0x1' }, 'latest'),
      'value-above-balance': positional({ from: ABSENT_ACCOUNT, to: BOB, value: '0x1' }, 'latest'),
      'beyond-head': positional(bobsBalance, at(HEAD + 1)),
      'unknown-hash': positional(bobsBalance, UNKNOWN_HASH),
      'data-and-input-differ': positional({ to: TOKEN, data: '0x01', input: '0x02' }, 'latest'),
      'other-chain': positional({ to: TOKEN, chainId: '0x1' }, 'latest'),
      'both-fee-kinds': positional({ to: TOKEN, gasPrice: '0x1', maxFeePerGas: '0x1' }, 'latest'),
      'short-address': positional({ to: '0x12' }, 'latest'),
      'odd-data': positional({ to: TOKEN, data: '0x123' }, 'latest'),
      'empty-text-for-data': positional({ to: ABSENT_ACCOUNT, data: '' }, 'latest'),
      'no-params': positional(),
    },
    eth_createAccessList: {
      'token-transfer': positional(transfer(ALICE, 1n), 'latest'),
      'token-transfer-past': positional(transfer(ALICE, 1n), at(23)),
      'plain-transfer': positional({ from: ALICE, to: BOB, value: '0x1' }),
      'revert-insufficient': positional(transfer(ABSENT_ACCOUNT, 1n), 'latest'),
      'overridden-code': positional({ to: ABSENT_ACCOUNT }, 'latest', { [ABSENT_ACCOUNT]: { code: '0x60075400' } }),
      'filled-fees': positional({ ...transfer(ALICE, 1n), maxPriorityFeePerGas: '0x1' }, at(45)),
      'zero-gas-price': positional({ from: ALICE, to: BOB, gasPrice: '0x0' }),
      'zero-fee': positional({ from: ALICE, to: BOB, maxFeePerGas: '0x0', maxPriorityFeePerGas: '0x0' }),
      'fee-below-tip': positional({ from: ALICE, to: BOB, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' }),
      'zero-blob-fee': positional({
        from: ALICE,
        to: BOB,
        blobVersionedHashes: [`0x01${'11'.repeat(31)}`],
        maxFeePerBlobGas: '0x0',
      }),
      'authorizations-and-gas-price': positional({ from: ALICE, to: BOB, gasPrice: '0x1', authorizationList: [] }),
    },
    eth_simulateV1: {
      transfer: positional({ blockStateCalls: [{ calls: [{ from: ALICE, to: BOB, value: '0x1' }] }] }, at(45)),
      'two-blocks-with-a-gap': positional(
        {
          blockStateCalls: [
            {
              stateOverrides: { [ABSENT_ACCOUNT]: { balance: '0x5' } },
              calls: [{ from: ABSENT_ACCOUNT, to: BOB, value: '0x5' }],
            },
            {
              blockOverrides: { number: at(48), time: '0xffffff' },
              calls: [transfer(ALICE, 1n), failing(SELECTOR.failString)],
            },
          ],
          traceTransfers: true,
          returnFullTransactions: true,
        },
        at(45),
      ),
      'nonce-too-high': positional(
        {
          blockStateCalls: [
            { calls: [{ from: ALICE, to: BOB, nonce: '0xffff', gas: '0x5208', maxFeePerGas: '0xffffffff' }] },
          ],
          validation: true,
        },
        at(45),
      ),
      'numbers-do-not-rise': positional({ blockStateCalls: [{ blockOverrides: { number: '0x1' } }] }, at(45)),
      empty: positional({ blockStateCalls: [] }),
    },
    eth_estimateGas: {
      ...largeCases((large) => positional({ to: BOB }, large)),

      'plain-transfer': positional({ from: ALICE, to: BOB, value: '0x1' }),
      'overrides-empty': positional({ from: ALICE, to: BOB, value: '0x1' }, 'latest', {}),
      'overrides-not-empty': positional({ to: BOB }, 'latest', { [ALICE]: { nonce: '0x1' } }),
      'token-transfer': positional(transfer(ALICE, 1n), 'latest'),
      'token-transfer-past': positional(transfer(ALICE, 1n), at(21)),
      'plain-transfer-in-osaka': positional({ from: ALICE, to: BOB, value: '0x1' }, at(60)),
      'transfer-to-oneself': positional({ from: ALICE, to: ALICE, value: '0x1' }),
      'transfer-to-new-account': positional({ from: ALICE, to: ABSENT_ACCOUNT, value: '0x1' }),
      'transfer-to-new-account-in-osaka': positional({ from: ALICE, to: ABSENT_ACCOUNT, value: '0x1' }, at(60)),
      'forwarded-to-new-account': positional({ from: ALICE, to: FORWARDER, value: '0x1', data: word(ABSENT_ACCOUNT) }),
      'new-slot': positional({ from: ALICE, to: STORE, data: encode('0x', 3, 1) }),
      'data-floor': positional({ from: ALICE, to: NEWCOMER, data: `0x${'00'.repeat(1000)}` }),
      'access-list': positional({
        ...{ from: ALICE, to: BOB },
        accessList: [{ address: TOKEN, storageKeys: [word(1), word(2)] }],
      }),
      'code-of-25000-bytes-in-osaka': positional({ from: ALICE, data: codeOf(25_000) }, at(60)),
      'code-of-25000-bytes': positional({ from: ALICE, data: codeOf(25_000) }),
      creation: positional({ from: ALICE, data: '0x600160005260206000f3' }),
      'emit-hundred-logs': positional({ from: ALICE, to: EMITTER, data: encode('0x', 100, 4, 32, 0) }),
      'revert-insufficient': positional(transfer(ABSENT_ACCOUNT, 1n)),
      'revert-custom': positional(failing(SELECTOR.failCustom)),
      'gas-too-low': positional({ ...transfer(ALICE, 1n), gas: at(25_000) }),
      'value-above-balance': positional({ from: ABSENT_ACCOUNT, to: BOB, value: '0x1' }),
      'beyond-head': positional({ to: BOB }, at(HEAD + 1)),
      'no-params': positional(),
    },
  }
}

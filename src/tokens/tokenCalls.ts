import { hashSignature } from '../decoding/abiItems.js'
import {
  readTokenAddress,
  readTokenDecimals,
  readTokenFlag,
  readTokenInteger,
  readTokenText,
} from '../decoding/tokenOutputs.js'
import type { TokenKind } from '../decoding/tokenTransfers.js'
import type { CallLimits } from '../evm/calls/callContext.js'
import type { EvmService } from '../evm/calls/evmService.js'
import { CallFailed, CallMemoryExceeded, CallReverted, ReturnDataTooLong } from '../evm/errors.js'
import { bigIntToFixedBytes, concatBytes, EMPTY_BYTES, padLeft } from '../lib/bytes.js'
import type { Deadline } from '../lib/deadline.js'
import { parseHex } from '../lib/hex.js'
import type { TokenBalance } from './accountTokens.js'
import type { Holding } from './holders.js'

/** What a contract says about itself. */
export interface TokenMetadata {
  /** Null if the call fails or its output is no text. */
  readonly name: string | null
  readonly symbol: string | null
  /** Null if the call fails, or above 255. */
  readonly decimals: number | null
}

/** Metadata without answers. */
export const NO_METADATA: TokenMetadata = { name: null, symbol: null, decimals: null }

const selector = (signature: string) => hashSignature(signature).subarray(0, 4)

const NAME = selector('name()')
const SYMBOL = selector('symbol()')
const DECIMALS = selector('decimals()')
const TOTAL_SUPPLY = selector('totalSupply()')
const BALANCE_OF = selector('balanceOf(address)')
const BALANCE_OF_ID = selector('balanceOf(address,uint256)')
const OWNER_OF = selector('ownerOf(uint256)')
const SUPPORTS_INTERFACE = selector('supportsInterface(bytes4)')

/** Interface ids (ERC-165), and the id that no contract may support. */
const INTERFACES = { erc721: parseHex('0x80ac58cd'), erc1155: parseHex('0xd9b67a26') } as const
const NO_INTERFACE = parseHex('0xffffffff')
/** Fills the word of an interface id. */
const AFTER_ID = new Uint8Array(28)

/** Limits of a call of a token: a name of a megabyte takes 2.3 million gas. */
const MOST: CallLimits = {
  gasCapPercent: 1000,
  maxCallGas: 5_000_000,
  callMemoryBytes: 8 * 2 ** 20,
  maxReturnBytes: 2 ** 21,
}

/** Gas of a call among many: contracts that burn all of it for each entry of a page must not use up its time. */
const GAS_AMONG_MANY = 500_000

/** Calls of token contracts after one block. Each has at most 5 million gas, or 500,000 among many, 8 MiB of memory and
 *  2 MiB of output; a call that fails has no answer. All methods throw what reading the state throws: StateUnavailable,
 *  MissingState, EvmPending; and DeadlineExceeded. */
export class TokenCalls {
  readonly #evm: Pick<EvmService, 'call'>
  readonly #blockNumber: number
  readonly #limits: CallLimits
  readonly #deadline: Deadline

  /** `limits`: those of other calls, if they are lower; `isAmongMany`: default false. */
  constructor(
    evm: Pick<EvmService, 'call'>,
    {
      blockNumber,
      deadline,
      limits = MOST,
      isAmongMany = false,
    }: { blockNumber: number; deadline: Deadline; limits?: CallLimits; isAmongMany?: boolean },
  ) {
    this.#evm = evm
    this.#blockNumber = blockNumber
    this.#limits = {
      gasCapPercent: limits.gasCapPercent,
      maxCallGas: Math.min(limits.maxCallGas, isAmongMany ? GAS_AMONG_MANY : MOST.maxCallGas),
      callMemoryBytes: Math.min(limits.callMemoryBytes, MOST.callMemoryBytes),
      maxReturnBytes: Math.min(limits.maxReturnBytes, MOST.maxReturnBytes),
    }
    this.#deadline = deadline
  }

  metadata(token: Uint8Array): TokenMetadata {
    return { name: this.name(token), symbol: this.symbol(token), decimals: this.decimals(token) }
  }

  name(token: Uint8Array): string | null {
    return readTokenText(this.#output(token, NAME))
  }

  symbol(token: Uint8Array): string | null {
    return readTokenText(this.#output(token, SYMBOL))
  }

  decimals(token: Uint8Array): number | null {
    return readTokenDecimals(this.#output(token, DECIMALS))
  }

  totalSupply(token: Uint8Array): bigint | null {
    return readTokenInteger(this.#output(token, TOTAL_SUPPLY))
  }

  /** The standard that the contract says it has (ERC-165); undefined if none. ERC-20 has no id. */
  supportedKind(token: Uint8Array): TokenKind | undefined {
    const supports = (id: Uint8Array) =>
      readTokenFlag(this.#output(token, concatBytes(SUPPORTS_INTERFACE, id, AFTER_ID)))
    for (const kind of ['erc721', 'erc1155'] as const) {
      if (supports(INTERFACES[kind])) return supports(NO_INTERFACE) ? undefined : kind
    }
    return undefined
  }

  /** `balanceOf` of an account, of an ERC-1155 token by id; null without an answer. */
  balance(account: Uint8Array, { token, kind, id }: Pick<TokenBalance, 'token' | 'kind' | 'id'>): bigint | null {
    const owner = padLeft(account, 32)
    const input =
      kind === 'erc1155'
        ? concatBytes(BALANCE_OF_ID, owner, bigIntToFixedBytes(id ?? 0n, 32))
        : concatBytes(BALANCE_OF, owner)
    return readTokenInteger(this.#output(token, input))
  }

  /** What the contract says that the holder has: `balanceOf`, of ERC-721 1 if `ownerOf` the id is the holder, else 0;
   *  null without an answer. */
  holding(token: Uint8Array, { kind, holder, id }: Holding): bigint | null {
    if (kind !== 'erc721') return this.balance(holder, { token, kind, id })
    const owner = readTokenAddress(this.#output(token, concatBytes(OWNER_OF, bigIntToFixedBytes(id!, 32))))
    return owner === null ? null : Buffer.compare(owner, holder) === 0 ? 1n : 0n
  }

  /** The output of a call; no bytes for a call that fails. */
  #output(token: Uint8Array, input: Uint8Array): Uint8Array {
    this.#deadline.check()
    try {
      return this.#evm.call({ to: token, data: input }, this.#blockNumber, this.#limits, this.#deadline)
    } catch (error) {
      if (FAILURES.some((failure) => error instanceof failure)) return EMPTY_BYTES
      throw error
    }
  }
}

const FAILURES = [CallReverted, CallFailed, CallMemoryExceeded, ReturnDataTooLong]

import { useState } from 'preact/hooks'
import { hexToNumber, isHex, numberToHex } from 'viem'
import { CallFailed, call, callInBatch } from '../client/rpc.js'
import type { Hex, Status } from '../client/types.js'
import { useRequest } from '../client/useRequest.js'
import { parseBlock } from '../contractCalls.js'
import { formatCount } from '../format.js'
import { Chart } from '../ui/Chart.js'
import { Section } from '../ui/Layout.js'
import { Empty, Failure, Loaded } from '../ui/States.js'
import { AddressLink } from '../ui/Value.js'

/** Max number of blocks at which balances are read, evenly spread. */
const SAMPLES = 96

/** The balance of an address over all blocks with state. */
export function BalanceChart({ address }: { address: string }) {
  const request = useRequest(() => sampleBalances(address), [address])
  return (
    <Loaded request={request} what="balances">
      {(samples) =>
        samples === null ? (
          <Empty title="This database holds no state">
            Import with <code>--state execute</code> to read balances of the past.
          </Empty>
        ) : (
          <Section title="Balance over time" note={`read at ${samples.blocks.length} blocks`}>
            <figure class="card">
              <Chart
                label={`Balance from block ${samples.blocks[0]} to ${samples.blocks.at(-1)}, ${samples.balances.at(-1)} ether in the end`}
                x={samples.blocks}
                y={samples.balances}
                shape="steps"
                height={260}
                formatX={(value) => formatCount(value)}
                formatY={formatAmount}
              />
            </figure>
            <p class="quiet">Ether by block number. Between two samples the balance may have been another one.</p>
          </Section>
        )
      }
    </Loaded>
  )
}

function formatAmount(value: number): string {
  return value !== 0 && value < 0.0001
    ? value.toExponential(1)
    : value.toLocaleString('en-US', { maximumFractionDigits: 4 })
}

/** Reads balances in ether, from the first block with state to the head; null without state. */
async function sampleBalances(address: string): Promise<{ blocks: number[]; balances: number[] } | null> {
  const { coverage } = await call<Status>('cairn_getStatus')
  if (coverage === null || coverage.stateFromBlock === null) return null
  const blocks = sampleRange(hexToNumber(coverage.stateFromBlock), hexToNumber(coverage.toBlock), SAMPLES)
  const balances = await Promise.all(
    blocks.map((block) => callInBatch<Hex>('eth_getBalance', [address, numberToHex(block)])),
  )
  return { blocks, balances: balances.map((wei) => Number(BigInt(wei)) / 1e18) }
}

/** Returns at most `count` integers from `first` to `last`, both inclusive, evenly spread. */
function sampleRange(first: number, last: number, count: number): number[] {
  const steps = Math.min(count - 1, last - first)
  if (steps <= 0) return [last]
  return Array.from({ length: steps + 1 }, (_, i) => first + Math.round((i * (last - first)) / steps))
}

interface Reading {
  slot: string
  block: string
  word: Hex
}

/** Reads storage slots at any block. */
export function StorageReader({ address, isContract }: { address: string; isContract: boolean }) {
  const [slot, setSlot] = useState('0')
  const [block, setBlock] = useState('latest')
  const [readings, setReadings] = useState<readonly Reading[]>([])
  const [problem, setProblem] = useState<CallFailed | undefined>()
  const read = async (event: Event) => {
    event.preventDefault()
    setProblem(undefined)
    try {
      const params = [address, parseSlot(slot), parseBlock(block)]
      const word = await call<Hex>('eth_getStorageAt', params)
      setReadings((old) => [{ slot, block, word }, ...old].slice(0, 20))
    } catch (error) {
      setProblem(error instanceof CallFailed ? error : new CallFailed('call', (error as Error).message))
    }
  }
  return (
    <Section title="Storage">
      {!isContract && <p class="quiet">The account has no code at the newest block; it may have had storage before.</p>}
      <form class="inline-form" onSubmit={(event) => void read(event)}>
        <label>
          Slot
          <input value={slot} onInput={(event) => setSlot(event.currentTarget.value)} spellcheck={false} required />
        </label>
        <label>
          Block
          <input value={block} onInput={(event) => setBlock(event.currentTarget.value)} spellcheck={false} required />
        </label>
        <button type="submit" class="primary">
          Read
        </button>
      </form>
      {problem !== undefined && <Failure error={problem} />}
      <div class="cards" aria-live="polite">
        {readings.map((reading, i) => (
          <ReadWord key={readings.length - i} {...reading} />
        ))}
      </div>
    </Section>
  )
}

function ReadWord({ slot, block, word }: Reading) {
  const isAddress = /^0x0{24}[\da-f]{40}$/.test(word) && !/^0x0{40}/.test(word)
  return (
    <article class="card">
      <p>
        Slot <code class="break">{slot}</code> <span class="quiet">at block {block}</span>
      </p>
      <p>
        <code class="whole">{word}</code>
      </p>
      <p class="quiet">
        as an integer <span class="number break">{formatCount(BigInt(word))}</span>
        {isAddress && (
          <>
            {' '}
            · as an address <AddressLink address={`0x${word.slice(26)}`} />
          </>
        )}
      </p>
    </article>
  )
}

/** Parses a slot in decimal or hex. @throws Error that says what would work */
function parseSlot(text: string): Hex {
  const trimmed = text.trim()
  if (/^\d{1,78}$/.test(trimmed)) return numberToHex(BigInt(trimmed))
  if (isHex(trimmed) && trimmed.length <= 66 && trimmed.length > 2) return numberToHex(BigInt(trimmed))
  throw new Error('a slot is a number in decimal, or in hex with 0x')
}

import assert from 'node:assert/strict'

/** A message of a sink. */
export interface Message {
  readonly version: number
  readonly chainId: string
  readonly kind: 'added' | 'removed'
  readonly blocks: readonly {
    readonly number: number
    readonly hash: string
    readonly parentHash: string
    readonly timestamp?: number
    readonly isComplete?: boolean
    readonly events?: readonly SinkEvent[]
  }[]
}

/** An event of a message, as `cairn_getDecodedLogs` returns it. */
export interface SinkEvent {
  readonly blockHash: string
  readonly logIndex: string
  readonly decoded: { readonly name: string } | null
}

/** What an application knows of the chain by the messages of a sink with all blocks. */
export class Receiver {
  /** Canonical blocks, ascending, with their events by index. */
  readonly blocks: { number: number; hash: string; isComplete: boolean; events: Map<number, SinkEvent> }[] = []
  messages = 0
  /** Blocks and events that came again. */
  repeated = 0

  /** Applies a message. @throws AssertionError for one that is out of order */
  apply(message: Message): void {
    this.messages++
    for (const block of message.blocks) {
      if (message.kind === 'removed') this.#remove(block.hash)
      else this.#add(block)
    }
  }

  /** Hashes of the complete blocks. */
  hashes(): string[] {
    return this.blocks.filter(({ isComplete }) => isComplete).map(({ hash }) => hash)
  }

  /** All events, in order. */
  events(): SinkEvent[] {
    return this.blocks.flatMap(({ events }) =>
      [...events.entries()].sort(([a], [b]) => a - b).map(([, event]) => event),
    )
  }

  #remove(hash: string): void {
    const at = this.blocks.findIndex((block) => block.hash === hash)
    if (at === -1) return // removed already, or never delivered
    assert.equal(at, this.blocks.length - 1, 'blocks are removed from the top')
    this.blocks.pop()
  }

  #add({ number, hash, parentHash, isComplete, events = [] }: Message['blocks'][number]): void {
    let block = this.blocks.find((each) => each.hash === hash)
    if (block === undefined) {
      const last = this.blocks.at(-1)
      if (last !== undefined) assert.equal(parentHash, last.hash, `block ${number} follows the last one`)
      block = { number, hash, isComplete: false, events: new Map() }
      this.blocks.push(block)
    } else if (block.isComplete) this.repeated++
    for (const event of events) {
      assert.equal(event.blockHash, hash)
      block.events.set(Number(event.logIndex), event)
    }
    block.isComplete ||= isComplete === true
  }
}

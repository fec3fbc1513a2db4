import { useId, useState } from 'preact/hooks'
import { type Abi, type AbiFunction, type AbiParameter, numberToHex, parseEther } from 'viem'
import { CallFailed, call } from '../client/rpc.js'
import type { Decoded, Hex } from '../client/types.js'
import { sendByWallet, type Wallet, type WalletChain } from '../client/wallet.js'
import { decodeResult, describeRevert, encodeCall, isList, kindOf, parseBlock, signatureOf } from '../contractCalls.js'
import { Argument, ArgumentList } from '../ui/Decoded.js'
import { Code, TransactionLink } from '../ui/Value.js'

/** What the functions of a contract are called with. */
export interface CallSettings {
  readonly address: string
  /** Block after which functions are read, as typed. */
  readonly block: string
  /** Decodes errors. */
  readonly errors: Abi
  /** Undefined where functions cannot be written. */
  readonly writing: { readonly wallet: Wallet; readonly chain: WalletChain } | undefined
}

type Outcome =
  | { readonly kind: 'read'; readonly data: Hex; readonly block: string }
  | { readonly kind: 'sent'; readonly hash: Hex }
  | { readonly kind: 'failed'; readonly message: string }

/** A function of a contract, unfolded to a form that calls it. */
export function ContractFunction({ item, settings }: { item: AbiFunction; settings: CallSettings }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="function" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{signatureOf(item)}</code> {item.stateMutability === 'payable' && <span class="badge">payable</span>}
      </summary>
      {isOpen && <FunctionForm item={item} settings={settings} />}
    </details>
  )
}

function FunctionForm({ item, settings }: { item: AbiFunction; settings: CallSettings }) {
  const { address, block, errors, writing } = settings
  const [texts, setTexts] = useState<readonly string[]>([])
  const [ether, setEther] = useState('')
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const [isRunning, setRunning] = useState(false)
  const isRead = kindOf(item) !== 'write'
  const run = async (work: (data: Hex) => Promise<Outcome>) => {
    setRunning(true)
    setOutcome(undefined)
    try {
      setOutcome(await work(encodeCall(item, texts)))
    } catch (error) {
      setOutcome({ kind: 'failed', message: messageOf(error, errors) })
    }
    setRunning(false)
  }
  const read = async (data: Hex): Promise<Outcome> => {
    const at = parseBlock(block)
    const value = ether.trim() === '' ? {} : { value: parseValue(ether) }
    return { kind: 'read', data: await call<Hex>('eth_call', [{ to: address, data, ...value }, at]), block }
  }
  const write = async (data: Hex): Promise<Outcome> => {
    const transaction = { to: address, data, value: parseValue(ether) }
    return { kind: 'sent', hash: await sendByWallet(writing!.wallet, writing!.chain, transaction) }
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const isWrite = (event.submitter as HTMLButtonElement | null)?.value === 'write'
    void run(isWrite ? write : read)
  }
  return (
    <form class="function-form" onSubmit={submit}>
      {item.inputs.map((input, i) => (
        <ArgumentField
          key={i}
          label={input.name || `#${i}`}
          type={input}
          text={texts[i] ?? ''}
          onChange={(text) => setTexts((old) => item.inputs.map((_, at) => (at === i ? text : (old[at] ?? ''))))}
        />
      ))}
      {item.stateMutability === 'payable' && (
        <ArgumentField label="Value" type={{ type: 'ether' }} text={ether} onChange={setEther} />
      )}
      <div class="buttons">
        <button type="submit" class={isRead ? 'primary' : undefined} value="read" disabled={isRunning}>
          {isRead ? 'Read' : 'Simulate'}
        </button>
        {!isRead && writing !== undefined && (
          <button type="submit" class="primary" value="write" disabled={isRunning}>
            Send by the wallet
          </button>
        )}
        {isRunning && <span class="quiet">waiting …</span>}
      </div>
      <div aria-live="polite">{outcome !== undefined && <OutcomeView outcome={outcome} item={item} />}</div>
    </form>
  )
}

function ArgumentField(props: { label: string; type: AbiParameter; text: string; onChange: (text: string) => void }) {
  const { label, type, text, onChange } = props
  const id = useId()
  return (
    <div class="field">
      <label for={id}>
        {label} <span class="quiet">{describeParameter(type)}</span>
      </label>
      {isList(type) ? (
        <textarea
          id={id}
          rows={2}
          value={text}
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value)}
          placeholder="JSON"
        />
      ) : type.type === 'bool' ? (
        <select id={id} value={text} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">choose</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : (
        <input
          id={id}
          value={text}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </div>
  )
}

/** Type of a parameter, that of a tuple with its members: `(address to, uint256 value)[]`. */
function describeParameter(parameter: AbiParameter): string {
  if (!parameter.type.startsWith('tuple')) return parameter.type
  const { components = [] } = parameter as { components?: readonly AbiParameter[] }
  const members = components.map((each) => `${describeParameter(each)}${each.name ? ` ${each.name}` : ''}`)
  return `(${members.join(', ')})${parameter.type.slice('tuple'.length)}`
}

function OutcomeView({ outcome, item }: { outcome: Outcome; item: AbiFunction }) {
  if (outcome.kind === 'failed') {
    return (
      <p class="bad-text break" role="alert">
        {outcome.message}
      </p>
    )
  }
  if (outcome.kind === 'sent') {
    return (
      <p>
        Sent: <TransactionLink hash={outcome.hash} />
      </p>
    )
  }
  return (
    <>
      <p class="quiet">At block {outcome.block.trim() || 'latest'}:</p>
      <ResultValues values={decodeResult(item, outcome.data)} data={outcome.data} />
    </>
  )
}

/** The values that a function returned; the data if they cannot be decoded. */
export function ResultValues({ values, data }: { values: Decoded['args'] | undefined; data: Hex }) {
  if (values?.length === 1 && !values[0].name) return <Argument {...values[0]} />
  if (values !== undefined && values.length > 0) return <ArgumentList args={values} />
  if (data === '0x') return <p class="quiet">Nothing was returned</p>
  return <Code text={data} whole />
}

function parseValue(ether: string): Hex {
  const trimmed = ether.trim()
  if (trimmed === '') return '0x0'
  if (!/^\d+(\.\d{1,18})?$/.test(trimmed)) throw new Error('a value is ether in decimal, such as 0.5')
  return numberToHex(parseEther(trimmed))
}

/** Message of a failed call with its decoded error, of a wallet, or of an argument. */
function messageOf(error: unknown, errors: Abi): string {
  const { message } = error as Error
  const revert = error instanceof CallFailed ? describeRevert(errors, error.data) : undefined
  return revert === undefined ? message : `${message}: ${revert}`
}

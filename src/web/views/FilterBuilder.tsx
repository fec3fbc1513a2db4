import { useState } from 'preact/hooks'
import { EMPTY_FORM, type FilterForm, KNOWN_EVENTS, type WrongField } from '../logFilter.js'

interface BuilderProps {
  form: FilterForm
  problem: WrongField | undefined
  onSearch: (form: FilterForm) => void
  onExplain: (form: FilterForm) => void
}

/** The form of a log filter. */
export function FilterBuilder({ form, problem, onSearch, onExplain }: BuilderProps) {
  const [typed, setTyped] = useState(form)
  const field = (name: keyof FilterForm, label: string, hint: string, list?: string) => (
    <Field
      name={name}
      label={label}
      hint={hint}
      list={list}
      value={typed[name]}
      problem={problem?.field === name ? problem.message : undefined}
      onChange={(value) => setTyped((old) => ({ ...old, [name]: value }))}
    />
  )
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const isExplain = (event.submitter as HTMLButtonElement | null)?.value === 'explain'
    if (isExplain) onExplain(typed)
    else onSearch(typed)
  }
  return (
    <form class="card filter" onSubmit={submit} aria-label="Log filter">
      {field('address', 'Addresses', 'any; several with spaces')}
      <div class="fields three">
        {field('from', 'From block', 'earliest')}
        {field('to', 'To block', 'latest')}
        {field('blockHash', 'or block hash', '0x…')}
      </div>
      {field('topic0', 'Event', 'Transfer(address,address,uint256), or a topic', 'known-events')}
      <div class="fields three">
        {field('topic1', 'Topic 1', 'address, integer or 32 bytes')}
        {field('topic2', 'Topic 2', 'any')}
        {field('topic3', 'Topic 3', 'any')}
      </div>
      <datalist id="known-events">
        {KNOWN_EVENTS.map((signature) => (
          <option key={signature} value={signature} />
        ))}
      </datalist>
      <div class="buttons">
        <button type="submit" class="primary" value="search">
          Search
        </button>
        <button type="submit" value="explain">
          Search and explain
        </button>
        <button type="button" class="plain" onClick={() => setTyped(EMPTY_FORM)}>
          Clear
        </button>
      </div>
    </form>
  )
}

interface FieldProps {
  name: string
  label: string
  hint: string
  list: string | undefined
  value: string
  problem: string | undefined
  onChange: (value: string) => void
}

function Field({ name, label, hint, list, value, problem, onChange }: FieldProps) {
  const id = `filter-${name}`
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        name={name}
        value={value}
        list={list}
        placeholder={hint}
        onInput={(event) => onChange(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : `${id}-problem`}
      />
      {problem !== undefined && (
        <p class="bad-text" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

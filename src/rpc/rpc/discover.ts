import { defineMethod, JsonBytes, type Method } from '../core/method.js'
import { exampleValues, type RecordedExample, readExamples } from '../examples.js'

/** `rpc_discover` over the methods that `methods` returns when first called: the document, about 100 kB, never
 *  changes. */
export function createDiscover(methods: () => readonly Method[], version: string): Method {
  let document: JsonBytes | undefined
  return defineMethod({
    name: 'rpc_discover',
    summary: 'The OpenRPC document of this server.',
    cost: 'point',
    classes: ['node'],
    params: [],
    result: { name: 'document', schema: { type: 'object' } },
    errors: [],
    handler() {
      document ??= new JsonBytes(Buffer.from(JSON.stringify(describeMethods(methods(), version))))
      return document
    },
  })
}

/** An OpenRPC 1.3 document (spec.open-rpc.org), generated from the method definitions. */
function describeMethods(methods: readonly Method[], version: string): object {
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Cairn',
      description: 'The read interface over an imported chain.',
      version,
      license: { name: 'MIT' },
    },
    methods: methods.map(describeMethod),
  }
}

function describeMethod(method: Method): object {
  const { example } = readExamples()[method.name] ?? {}
  return {
    name: method.name,
    summary: method.summary,
    ...(method.description === undefined ? {} : { description: method.description }),
    tags: [{ name: method.name.split('_')[0] }],
    paramStructure: 'either',
    params: method.params.map(({ name, summary, required, schema }) => ({ name, summary, required, schema })),
    result: method.result,
    ...(method.errors.length === 0 ? {} : { errors: method.errors.map(({ code, message }) => ({ code, message })) }),
    ...(example === undefined ? {} : { examples: [describeExample(method, example)] }),
  }
}

/** An example pairing object; it has the values of all parameters by name, as they were sent. */
function describeExample(method: Method, example: RecordedExample): object {
  const before = example.before?.map((call) => `${call.method} ${JSON.stringify(call.params)}`)
  const values = exampleValues(method, example)
  return {
    name: example.name,
    ...(before === undefined ? {} : { description: `After ${before.join(', ')}` }),
    params: method.params.flatMap(({ name }, i) => (values[i] === undefined ? [] : [{ name, value: values[i] }])),
    result: { name: method.result.name, value: example.result },
  }
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { InvalidTemplateError, UnsupportedTemplateError } from '../../local/aws/errors.ts';
import { parseProperties } from '../../local/aws/template/properties.ts';
import { type ResolvedTemplate, resolveTemplate } from '../../local/aws/template/resolve.ts';

/** What `Fn::Sub` replaces. */
const placeholder = (name: string) => `$\{${name}}`;

const account = {
  region: 'eu-central-1',
  accountId: '123456789012',
  stackName: 'stack',
  gatewayUrl: 'http://127.0.0.1:1',
  apiUrl: 'http://127.0.0.1:2',
};

function resolve(template: object): ResolvedTemplate {
  return resolveTemplate({ Resources: {}, ...template }, account);
}

/** The value of one output, as text. */
function output(value: unknown, template: object = {}): string | undefined {
  return resolve({ ...template, Outputs: { It: { Value: value } } }).outputs.It;
}

const queue = { Resources: { Jobs: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'jobs' } } } };

test('references to resources, parameters and pseudo parameters are replaced', () => {
  assert.equal(output({ Ref: 'Jobs' }, queue), 'http://127.0.0.1:1/123456789012/jobs');
  assert.equal(
    output({ 'Fn::GetAtt': ['Jobs', 'Arn'] }, queue),
    'arn:aws:sqs:eu-central-1:123456789012:jobs',
  );
  assert.equal(output({ 'Fn::GetAtt': 'Jobs.QueueName' }, queue), 'jobs');
  assert.equal(output({ Ref: 'AWS::Region' }), 'eu-central-1');
  assert.equal(
    output({ Ref: 'Version' }, { Parameters: { Version: { Type: 'String', Default: '6' } } }),
    '6',
  );
});

test('every intrinsic function of a synthesized template is evaluated, inside one another', () => {
  assert.equal(output({ 'Fn::Join': ['-', ['a', { Ref: 'AWS::StackName' }]] }), 'a-stack');
  assert.equal(
    output(
      {
        'Fn::Sub': [placeholder('AWS::AccountId'), placeholder('Jobs.QueueName'), placeholder('!kept')].join(
          '/',
        ),
      },
      queue,
    ),
    `123456789012/jobs/${placeholder('kept')}`,
  );
  assert.equal(output({ 'Fn::Sub': [placeholder('own'), { own: { Ref: 'AWS::Region' } }] }), 'eu-central-1');
  assert.equal(output({ 'Fn::Select': ['1', { 'Fn::Split': ['/', 'a/b/c'] }] }), 'b');
  assert.equal(
    output(
      { 'Fn::FindInMap': ['Sizes', { Ref: 'AWS::Region' }, 'small'] },
      { Mappings: { Sizes: { 'eu-central-1': { small: 3 } } } },
    ),
    '3',
  );
  assert.equal(output({ 'Fn::Base64': 'text' }), 'dGV4dA==');
});

test('conditions choose values, leave out properties and leave out resources', () => {
  const Conditions = {
    Yes: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'eu-central-1'] },
    No: { 'Fn::Not': [{ Condition: 'Yes' }] },
    Both: { 'Fn::And': [{ Condition: 'Yes' }, { 'Fn::Or': [{ Condition: 'No' }, { Condition: 'Yes' }] }] },
  };
  assert.equal(output({ 'Fn::If': ['Both', 'yes', 'no'] }, { Conditions }), 'yes');
  const { resources } = resolve({
    Conditions,
    Resources: {
      Kept: {
        Type: 'AWS::SQS::Queue',
        Properties: { QueueName: { 'Fn::If': ['No', 'x', { Ref: 'AWS::NoValue' }] } },
      },
      Left: { Type: 'AWS::SQS::Queue', Condition: 'No' },
    },
  });
  assert.deepEqual(
    resources.map(({ logicalId, properties, attributes }) => [logicalId, properties, attributes.QueueName]),
    [['Kept', {}, 'stack-Kept']],
  );
});

test('a generated name is the same at every start and short enough for its service', () => {
  const name = `Queue${'x'.repeat(100)}`;
  const namesOf = () =>
    resolve({ Resources: { [name]: { Type: 'AWS::SQS::Queue' } } }).resources[0]?.attributes.QueueName;
  assert.equal(namesOf(), namesOf());
  assert.equal(namesOf()?.length, 80);
});

const REFUSED: readonly [
  what: string,
  template: object,
  error: typeof InvalidTemplateError,
  message: RegExp,
][] = [
  [
    'an unknown type',
    { Resources: { Disk: { Type: 'AWS::EC2::Volume' } } },
    UnsupportedTemplateError,
    /^Disk: .*AWS::EC2::Volume/,
  ],
  [
    'an unknown intrinsic',
    { Resources: { Jobs: { Type: 'AWS::SQS::Queue', Properties: { Tags: { 'Fn::Cidr': [] } } } } },
    UnsupportedTemplateError,
    /^Jobs \(AWS::SQS::Queue\): .*Fn::Cidr/,
  ],
  [
    'an import',
    { Outputs: { It: { Value: { 'Fn::ImportValue': 'other' } } } },
    UnsupportedTemplateError,
    /^Output It: .*another stack/,
  ],
  ['an unknown section', { Transform: 'AWS::Serverless' }, UnsupportedTemplateError, /Transform/],
  [
    'an unknown pseudo parameter',
    { Outputs: { It: { Value: { Ref: 'AWS::Moon' } } } },
    UnsupportedTemplateError,
    /AWS::Moon/,
  ],
  [
    'an attribute that is not known',
    { ...queue, Outputs: { It: { Value: { 'Fn::GetAtt': ['Jobs', 'Color'] } } } },
    UnsupportedTemplateError,
    /^Output It: .*Color of Jobs/,
  ],
  [
    'a reference to nothing',
    { Outputs: { It: { Value: { Ref: 'Nobody' } } } },
    InvalidTemplateError,
    /^Output It: .*Nobody/,
  ],
  [
    'a dependency on nothing',
    { Resources: { Jobs: { Type: 'AWS::SQS::Queue', DependsOn: 'Nobody' } } },
    InvalidTemplateError,
    /^Jobs: .*Nobody/,
  ],
  [
    'a name that refers to itself',
    { Resources: { Jobs: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { Ref: 'Jobs' } } } } },
    InvalidTemplateError,
    /^Jobs: .*itself/,
  ],
  [
    'a parameter without a value',
    { Parameters: { P: { Type: 'String' } }, Outputs: { It: { Value: { Ref: 'P' } } } },
    UnsupportedTemplateError,
    /parameter P/,
  ],
  ['no resources', { Resources: undefined }, InvalidTemplateError, /Resources/],
];

for (const [what, template, error, message] of REFUSED)
  test(`${what} is one error that says where`, () => {
    assert.throws(
      () => resolve(template),
      (thrown) => thrown instanceof error && message.test(thrown.message) && !thrown.message.includes('\n'),
    );
  });

test('an unknown property of a type that runs is refused with its path', () => {
  const resource = {
    logicalId: 'Jobs',
    type: 'AWS::SQS::Queue',
    ref: '',
    attributes: {},
    properties: { Redrive: { speed: 1 } },
  };
  const schema = z.strictObject({ Redrive: z.strictObject({ maximum: z.number().optional() }) });
  assert.throws(() => parseProperties(resource, schema), {
    code: 'template_unsupported',
    message: /^Jobs \(AWS::SQS::Queue\): .*Redrive\.speed/,
  });
});

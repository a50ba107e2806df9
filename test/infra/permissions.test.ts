import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FUNCTION_NAMES, type FunctionName } from '../../cdk/bundle.ts';
import { grantsOf, grantsOfFunction, resourcesOf, stackTemplate } from './support.ts';

const template = stackTemplate();

const functionsWith = (matches: (action: string) => boolean): FunctionName[] =>
  FUNCTION_NAMES.filter((name) =>
    grantsOfFunction(template, name).some((grant) => grant.actions.some((action) => matches(action))),
  );

const tableActions = (name: FunctionName, resource: RegExp): string[] =>
  grantsOfFunction(template, name)
    .filter((grant) => grant.resources.some((found) => resource.test(JSON.stringify(found))))
    .flatMap((grant) => grant.actions)
    .filter((action) => action.startsWith('dynamodb:'))
    .sort();

describe('permissions', () => {
  it('let only the functions that call the model read its key', () => {
    assert.deepEqual(
      functionsWith((action) => action.startsWith('secretsmanager:')),
      ['compactor', 'api'],
    );
    const [secretId] = resourcesOf(template, 'AWS::SecretsManager::Secret').keys();
    const resources = grantsOf(template)
      .filter((grant) => grant.actions.includes('secretsmanager:GetSecretValue'))
      .flatMap((grant) => grant.resources);
    assert.deepEqual(resources, [{ Ref: secretId }, { Ref: secretId }]);
  });

  it('let only the scanner query the pressure index, and no function scan', () => {
    const readers = FUNCTION_NAMES.filter((name) => tableActions(name, /index\/pressure/).length > 0);
    assert.deepEqual(readers, ['scanner']);
    assert.deepEqual(tableActions('scanner', /index\/pressure/), ['dynamodb:Query']);
    assert.deepEqual(
      functionsWith((action) => action === 'dynamodb:Scan'),
      [],
    );
  });

  it('let each function do on the table what its part of the store does, and none delete', () => {
    // Nothing checks these on one machine, so a call that is added to the store has to be added here and in the stack.
    const all = [
      'BatchGetItem',
      'BatchWriteItem',
      'ConditionCheckItem',
      'GetItem',
      'PutItem',
      'Query',
      'UpdateItem',
    ];
    const expected = {
      scanner: ['GetItem', 'Query', 'UpdateItem'],
      trigger: ['GetItem', 'Query'],
      compactor: all,
      api: all,
    };
    for (const name of FUNCTION_NAMES) {
      const onItems = tableActions(name, /^\{"Fn::GetAtt"/).map((action) => action.replace('dynamodb:', ''));
      assert.deepEqual(onItems, expected[name], name);
    }
  });

  it('let only the compactor take messages off the queue', () => {
    assert.deepEqual(
      functionsWith((action) => action === 'sqs:ReceiveMessage'),
      ['compactor'],
    );
    assert.deepEqual(
      functionsWith((action) => action === 'sqs:SendMessage'),
      ['scanner', 'api', 'trigger'],
    );
  });

  it('let only the functions that compact put events on the bus', () => {
    assert.deepEqual(
      functionsWith((action) => action === 'events:PutEvents'),
      ['compactor', 'api'],
    );
  });

  it('let every function write to its own log and to no other', () => {
    const logs = FUNCTION_NAMES.map((name) =>
      grantsOfFunction(template, name)
        .filter((grant) => grant.actions.includes('logs:PutLogEvents'))
        .map((grant) => JSON.stringify(grant.resources)),
    );
    assert.ok(logs.every((groups) => groups.length === 1));
    assert.equal(new Set(logs.flat()).size, FUNCTION_NAMES.length);
  });

  it('name every action and every resource', () => {
    for (const grant of grantsOf(template)) {
      for (const action of grant.actions) assert.ok(!action.includes('*'), `${grant.role}: ${action}`);
      for (const resource of grant.resources) {
        const text = JSON.stringify(resource);
        // A scheduler invokes versions of a function too: "<function>:*" is as narrow as that gets.
        const versionsOfOneFunction = grant.actions.every((action) => action === 'lambda:InvokeFunction');
        assert.ok(versionsOfOneFunction ? text !== '"*"' : !text.includes('*'), `${grant.role}: ${text}`);
      }
    }
  });

  it('come from no managed policy', () => {
    const managed = [...resourcesOf(template, 'AWS::IAM::Role').values()].filter(
      ({ Properties }) => Properties.ManagedPolicyArns !== undefined || Properties.Policies !== undefined,
    );
    assert.deepEqual(managed, []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FUNCTION_NAMES } from '../../cdk/bundle.ts';
import { functionOf, onlyResource, resourcesOf, stackTemplate } from './support.ts';

const template = stackTemplate();

const SHARED_NAMES = [
  'LOG_LEVEL',
  'MODEL_BASE_URL',
  'MODEL_ID',
  'MODEL_PROVIDER',
  'NODE_OPTIONS',
  'POWERTOOLS_SERVICE_NAME',
  'PRESSURE_INDEX',
  'TABLE_NAME',
];
const EXTRA_NAMES = {
  scanner: ['QUEUE_URL'],
  trigger: ['QUEUE_URL'],
  compactor: ['EVENT_BUS_NAME', 'MODEL_SECRET_ARN'],
  api: ['ADMIN_GROUP', 'CORS_ORIGINS', 'EVENT_BUS_NAME', 'MODEL_SECRET_ARN', 'QUEUE_URL'],
};

describe('functions', () => {
  it('are four, on Node 24 and ARM, each with its own log group', () => {
    template.resourceCountIs('AWS::Lambda::Function', 4);
    template.allResourcesProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
    });
    const groups = [...resourcesOf(template, 'AWS::Lambda::Function').values()].map(({ Properties }) =>
      JSON.stringify(Properties.LoggingConfig),
    );
    assert.equal(new Set(groups).size, 4);
    assert.ok(!groups.includes('undefined'), 'a function logs to a group that lives forever');
  });

  for (const name of FUNCTION_NAMES) {
    it(`${name} gets exactly the environment that it reads`, () => {
      const { Variables } = functionOf(template, name).Environment;
      assert.deepEqual(Object.keys(Variables).sort(), [...SHARED_NAMES, ...EXTRA_NAMES[name]].sort());
      assert.equal(Variables.PRESSURE_INDEX, 'pressure');
      assert.equal(Variables.NODE_OPTIONS, '--enable-source-maps');
    });
  }

  it('need no custom resource and no code but their own', () => {
    const types = Object.values(template.toJSON().Resources as Record<string, { Type: string }>);
    assert.deepEqual(
      types.filter(({ Type }) => /^Custom::|CustomResource/.test(Type)),
      [],
    );
  });

  it('read model and log level from the context', () => {
    const chosen = stackTemplate({ modelProvider: 'anthropic', modelId: 'm-1', logLevel: 'DEBUG' });
    const { Variables } = functionOf(chosen, 'compactor').Environment;
    assert.deepEqual(
      [Variables.MODEL_PROVIDER, Variables.MODEL_ID, Variables.LOG_LEVEL],
      ['anthropic', 'm-1', 'DEBUG'],
    );
  });
});

describe('scanner', () => {
  it('is asked every minute by EventBridge Scheduler, not by a scheduled rule', () => {
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
    });
    assert.equal(onlyResource(template, 'AWS::Events::Rule').Properties.ScheduleExpression, undefined);
  });

  it('ends before the next tick', () => {
    assert.ok(functionOf(template, 'scanner').Timeout < 60);
  });
});

describe('trigger', () => {
  it('hears both kinds of events on the product bus, whoever sends them', () => {
    const { EventPattern, EventBusName } = onlyResource(template, 'AWS::Events::Rule').Properties;
    const [busId] = resourcesOf(template, 'AWS::Events::EventBus').keys();
    assert.deepEqual(EventPattern, { 'detail-type': ['response.generation', 'compaction.request'] });
    assert.deepEqual(EventBusName, { Ref: busId });
  });
});

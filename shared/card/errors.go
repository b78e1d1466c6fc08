package card

// failure is what is known of all failures of a type (S0 §12, facts 0.4).
type failure struct {
	retryable bool
	says      label // to the person
}

// failures has all types in the order of S0, and behind them the one that is newer.
var failures = map[ErrorType]failure{
	ToolTimeout:         {true, label{"这一步花的时间太长，可以再试一次。", "This step took too long. It can be tried again."}},
	OrphanTimeout:       {false, label{"很久没有收到进展，这一步已经结束。", "Nothing was heard of this step for a long time, so it was ended."}},
	RateLimit:           {true, label{"请求太频繁了，稍等片刻再继续。", "There were too many requests. Wait a moment and go on."}},
	Overloaded:          {true, label{"服务正忙，过一会儿会好一些。", "The service is busy. It should be better in a while."}},
	ContractFail:        {true, label{"得到的结果不符合要求，可以重新做一次。", "The result was not what was asked for. It can be done again."}},
	DependencyFail:      {true, label{"这一步依赖的服务出了问题，可以再试一次。", "Something that this step depends on has failed. It can be tried again."}},
	UserAborted:         {false, label{"好的，已经按你的要求停下来了。", "All right, it was stopped as you asked."}},
	PermissionDenied:    {false, label{"没有得到许可，所以这一步没有执行。", "This was not done, because it was not allowed."}},
	MaxTurns:            {false, label{"已经达到轮数上限，任务先停在这里。", "The limit of turns is reached, so the work stops here."}},
	ContextExceeded:     {false, label{"对话内容太长，模型放不下了，可以新开一个对话。", "The conversation is too long for the model. A new one can be begun."}},
	ModelError:          {true, label{"模型没有正常完成回答，可以再试一次。", "The model did not finish its answer. It can be tried again."}},
	BudgetExhausted:     {false, label{"预算已经用完，任务先停在这里。", "The budget is used up, so the work stops here."}},
	InvalidInput:        {false, label{"收到的内容有问题，请检查后再发。", "Something is wrong with what was sent. Check it and send it again."}},
	Internal:            {false, label{"我们这边出了点问题，这次没能完成。", "Something went wrong on our side, and this was not finished."}},
	UnsupportedModality: {false, label{"当前模型不支持这种类型的内容。", "The present model does not take this kind of content."}},
}

// ErrorTypes lists the types of failures, in the order of S0 §12.
func ErrorTypes() []ErrorType {
	return []ErrorType{
		ToolTimeout, OrphanTimeout, RateLimit, Overloaded, ContractFail, DependencyFail, UserAborted, PermissionDenied, MaxTurns, ContextExceeded,
		ModelError, BudgetExhausted, InvalidInput, Internal, UnsupportedModality,
	}
}

// orInternal is the type itself where it is known, and Internal where it is not: what a client makes of a type that is newer than it is (facts 0.2).
func (t ErrorType) orInternal() ErrorType {
	if known(t) {
		return t
	}
	return Internal
}

// known says whether a type is one of S0's.
func known(t ErrorType) bool {
	_, ok := failures[t]
	return ok
}

// NewError returns a failure that people and programs can read. message is for developers.
func NewError(t ErrorType, message string, lang Language) ErrorInfo {
	return ErrorInfo{Type: t, Message: message}.Complete(lang)
}

// Complete fills in what the type says: the person's sentence if there is none, and that it can be tried again, which is never taken back
// once it was said. What somebody has stopped is always told in the same words (facts 0.4).
func (e ErrorInfo) Complete(lang Language) ErrorInfo {
	known := failures[e.Type.orInternal()]
	if e.UserMessage == "" || e.Type == UserAborted {
		e.UserMessage = known.says.in(lang)
	}
	e.Retryable = e.Retryable || known.retryable
	return e
}

package httpapi

import (
	"context"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
)

// BootstrapUser implements bootstrapUser.
func (h handlers) BootstrapUser(ctx context.Context, r BootstrapUserRequestObject) (BootstrapUserResponseObject, error) {
	b := r.Body
	user := account.NewUser{Name: b.Username, DisplayName: b.DisplayName, Password: b.Password}
	login, err := h.People.First(ctx, account.Token(b.Token), user, newDevice(b.Device))
	if err != nil {
		return nil, err
	}
	return BootstrapUser201JSONResponse{tokensFor(ctx, login)}, nil
}

// RegisterUser implements registerUser.
func (h handlers) RegisterUser(ctx context.Context, r RegisterUserRequestObject) (RegisterUserResponseObject, error) {
	b := r.Body
	user := account.NewUser{Name: b.Username, DisplayName: b.DisplayName, Password: b.Password}
	login, err := h.People.Register(ctx, account.Token(b.Token), user, newDevice(b.Device))
	if err != nil {
		return nil, err
	}
	return RegisterUser201JSONResponse{tokensFor(ctx, login)}, nil
}

// Login implements login. Guessing is limited per name as well as per address, so that many addresses do not help.
func (h handlers) Login(ctx context.Context, r LoginRequestObject) (LoginResponseObject, error) {
	b := r.Body
	if err := take(ctx, h.Limiter, "name", bounded(b.Username), h.Limits.LoginName); err != nil {
		return nil, err
	}
	login, err := h.Devices.Login(ctx, account.Credentials{Name: b.Username, Password: b.Password}, newDevice(b.Device))
	if err != nil {
		return nil, err
	}
	return Login200JSONResponse{tokensFor(ctx, login)}, nil
}

// bounded keeps the keys of the limiter short: no user has a longer name.
func bounded(name string) string { return name[:min(len(name), 64)] }

// RefreshTokens implements refreshTokens.
func (h handlers) RefreshTokens(ctx context.Context, r RefreshTokensRequestObject) (RefreshTokensResponseObject, error) {
	login, err := h.Devices.Refresh(ctx, account.Token(r.Body.RefreshToken))
	if err != nil {
		return nil, err
	}
	return RefreshTokens200JSONResponse{tokensFor(ctx, login)}, nil
}

// Logout implements logout.
func (h handlers) Logout(ctx context.Context, _ LogoutRequestObject) (LogoutResponseObject, error) {
	if err := h.Devices.Logout(ctx, caller(ctx)); err != nil {
		return nil, err
	}
	answer := Logout204Response{}
	answer.Headers.SetCookie = clearedCookie(ctx)
	return answer, nil
}

// LogoutEverywhere implements logoutEverywhere.
func (h handlers) LogoutEverywhere(ctx context.Context, _ LogoutEverywhereRequestObject) (LogoutEverywhereResponseObject, error) {
	if err := h.Devices.LogoutEverywhere(ctx, caller(ctx)); err != nil {
		return nil, err
	}
	answer := LogoutEverywhere204Response{}
	answer.Headers.SetCookie = clearedCookie(ctx)
	return answer, nil
}

// clearedCookie ends the cookie of a browser; nil for a program.
func clearedCookie(ctx context.Context) *string {
	page := callOf(ctx).browser
	if page == "" {
		return nil
	}
	cookie := clearedSessionCookie(page)
	return &cookie
}

// GetMe implements getMe.
func (h handlers) GetMe(ctx context.Context, _ GetMeRequestObject) (GetMeResponseObject, error) {
	user, device, err := h.Devices.Me(ctx, caller(ctx))
	if err != nil {
		return nil, err
	}
	return GetMe200JSONResponse{User: renderUser(user), Device: renderDevice(device, device)}, nil
}

// CreateInvitation implements createInvitation.
func (h handlers) CreateInvitation(ctx context.Context, r CreateInvitationRequestObject) (CreateInvitationResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	inv, err := h.People.Invite(ctx, caller(ctx), attempt)
	if err != nil {
		return nil, err
	}
	return CreateInvitation201JSONResponse{
		ID: InvitationID(inv.ID), Token: string(inv.Token), CreatedAt: inv.CreatedAt, ExpiresAt: inv.ExpiresAt,
	}, nil
}

func newDevice(d DeviceInput) account.NewDevice {
	return account.NewDevice{Type: account.DeviceType(d.Type), Name: d.Name}
}

// tokensFor answers with a fresh pair; a browser also gets it as a cookie.
func tokensFor(ctx context.Context, l account.Login) TokensJSONResponse {
	answer := TokensJSONResponse{Body: renderTokens(l)}
	if page := callOf(ctx).browser; page != "" {
		cookie := newSessionCookie(l.Access, page)
		answer.Headers.SetCookie = &cookie
	}
	return answer
}

func renderTokens(l account.Login) Tokens {
	return Tokens{
		AccessToken: string(l.Access), ExpiresIn: int(account.AccessLifetime.Seconds()), RefreshToken: string(l.Refresh),
		TokenType: TokensTokenTypeBearer, User: renderUser(l.User), Device: renderDevice(l.Device, l.Device),
	}
}

func renderUser(u account.User) User {
	return User{ID: UserID(u.ID), Username: u.Name, DisplayName: u.DisplayName, CreatedAt: u.CreatedAt}
}
